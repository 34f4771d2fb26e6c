import { newId } from '#entities/kit/base/ids.ts';
import { testPassword, type Person } from '../kit/people.ts';
import type { World } from '../kit/world.ts';
import { PatientClient, type Answer, type TrafficOptions } from './patient-client.ts';

/** Changes of one visit after the first. */
const renamings = 3;

/**
 * A person who changes tasks and invites people while servers die, and repeats each request until it is answered. What was answered must
 * be told to the endpoints of the organization, and everybody who was invited must get one mail.
 */
export class ChangeTraffic {
  /** Versions of tasks that were answered, as `<id>@<version>`. */
  readonly changed: string[] = [];
  /** Addresses whose invitation was answered. */
  readonly invited: string[] = [];
  /** Answers that nobody should get. */
  readonly unexpected: Answer[] = [];
  readonly #client: PatientClient;
  readonly #headers: Readonly<Record<string, string>>;

  private constructor(options: TrafficOptions, bearer: string) {
    this.#client = new PatientClient(options);
    this.#headers = { authorization: `Bearer ${bearer}` };
  }

  static async of(world: World, { user }: Person, options: TrafficOptions): Promise<ChangeTraffic> {
    const login = await world.client().post('/v1/login', { username: user.email, password: testPassword });
    return new ChangeTraffic(options, String(login.body.access_token));
  }

  async visit(): Promise<void> {
    const id = await this.#change('POST', '/v1/tasks', 201);
    if (id !== undefined)
      for (let count = 0; count < renamings; count++) await this.#change('PATCH', `/v1/tasks/${id}`, 200);
    await this.#invite();
  }

  /** @returns id of the task */
  async #change(method: 'POST' | 'PATCH', path: string, wanted: number): Promise<string | undefined> {
    const { answer } = await this.#client.untilAnswered({
      method,
      path,
      body: { title: newId() },
      headers: this.#headers,
    });
    const { id, record_version: version } = answer.body;
    if (answer.status === wanted) this.changed.push(`${String(id)}@${String(version)}`);
    else this.unexpected.push(answer);
    return answer.status === wanted ? String(id) : undefined;
  }

  async #invite(): Promise<void> {
    const recipient = `invited-${newId().toLowerCase()}@example.com`;
    const { answer, attempts } = await this.#client.untilAnswered({
      path: '/v1/invites',
      body: { recipient },
      headers: this.#headers,
    });
    // An attempt that had no answer may have been the one that did it.
    const isInvited = answer.status === 201 || (attempts > 1 && answer.body['code'] === 'already_exists');
    if (isInvited) this.invited.push(recipient);
    else this.unexpected.push(answer);
  }
}
