import { armFailpoints } from '#entities/kit/base/failpoint.ts';
import type { Random } from '../../random.ts';
import { recordTried } from '../../tried.ts';
import type { ScimAnswer, ScimClient } from '../scim-client.ts';
import type { DirectoryChange, ModelGroup, ModelPerson } from './directory-model.ts';

/** An identity provider that pushes changes until they are accepted: answers are lost, and the server crashes while it writes. */
export class PushedDirectory {
  readonly #scim: ScimClient;
  readonly #random: Random;
  /** Ids of the server, by those of the model. */
  readonly #ids = new Map<string, string>();

  constructor(scim: ScimClient, random: Random) {
    this.#scim = scim;
    this.#random = random;
  }

  get integrationId(): string {
    return this.#scim.integrationId;
  }

  async push(change: DirectoryChange): Promise<void> {
    switch (change.sort) {
      case 'person added':
        return this.#create('/Users', change.person.id, userOf(change.person));
      case 'person changed':
        return this.#send('PUT', `/Users/${this.#idOf(change.person.id)}`, userOf(change.person));
      case 'person removed':
        return this.#send('DELETE', `/Users/${this.#idOf(change.id)}`);
      case 'group added':
        return this.#create('/Groups', change.group.id, this.#groupOf(change.group));
      case 'group changed':
        return this.#send('PUT', `/Groups/${this.#idOf(change.group.id)}`, this.#groupOf(change.group));
      case 'group removed':
        return this.#send('DELETE', `/Groups/${this.#idOf(change.id)}`);
      case 'joined':
        return this.#patch(change.groupId, {
          op: 'Add',
          path: 'members',
          value: [{ value: this.#idOf(change.personId) }],
        });
      case 'left':
        return this.#patch(change.groupId, {
          op: 'Remove',
          path: `members[value eq "${this.#idOf(change.personId)}"]`,
        });
      default:
        change satisfies never;
        throw new TypeError('unknown change');
    }
  }

  /** Looks first whether it is there: an answer before may have been lost. */
  async #create(path: '/Users' | '/Groups', externalId: string, document: object): Promise<void> {
    const filter = encodeURIComponent(`externalId eq "${externalId}"`);
    const id = await this.#accepted(async () => {
      const found = await this.#scim.send('GET', `${path}?filter=${filter}`);
      if (found.status !== 200) return found;
      const [held] = found.body.Resources as readonly { readonly id: string }[];
      return held ? { ...found, body: held } : this.#scim.send('POST', path, document);
    });
    this.#ids.set(externalId, id ?? '');
  }

  #patch(groupId: string, operation: object): Promise<void> {
    return this.#send('PATCH', `/Groups/${this.#idOf(groupId)}`, {
      schemas: ['urn:ietf:params:scim:api:messages:2.0:PatchOp'],
      Operations: [operation],
    });
  }

  async #send(method: string, path: string, body?: object): Promise<void> {
    await this.#accepted(() => this.#scim.send(method, path, body));
  }

  /** Repeats a request until its answer arrives. @returns the id in the answer */
  async #accepted(request: () => Promise<ScimAnswer>): Promise<string | undefined> {
    for (;;) {
      const isKilled = this.#random.chance(0.2);
      if (isKilled) armFailpoints([{ name: 'before-commit', action: 'throw', after: 0 }]);
      const answer = await request().finally(() => armFailpoints([]));
      // A resource that is gone already was removed by a request whose answer was lost.
      if (answer.status >= 400 && answer.status < 500 && answer.status !== 404)
        throw new Error(`the server refuses it: ${JSON.stringify(answer.body)}`);
      if (isKilled) recordTried('pushed requests whose transaction fails', 1);
      if (answer.status >= 500) continue;
      if (!this.#random.chance(0.2)) return answer.body?.id as string | undefined;
      recordTried('pushed requests whose answer is lost', 1);
    }
  }

  #idOf(modelId: string): string {
    return this.#ids.get(modelId) ?? 'unknown';
  }

  #groupOf({ id, name, members }: ModelGroup): object {
    return {
      schemas: ['urn:ietf:params:scim:schemas:core:2.0:Group'],
      externalId: id,
      displayName: name,
      members: [...members].map((member) => ({ value: this.#idOf(member) })),
    };
  }
}

function userOf({ id, email, name, isActive }: ModelPerson): object {
  return {
    schemas: ['urn:ietf:params:scim:schemas:core:2.0:User'],
    userName: `user-${id}`,
    externalId: id,
    displayName: name,
    emails: [{ value: email, primary: true }],
    active: isActive,
  };
}
