import type { Listening } from '#api/start-api.ts';
import type { TestClient } from '../test-client.ts';
import type { World } from '../world.ts';

/** Ids of schemas, by the names of resources. */
export const scimSchemas = {
  user: 'urn:ietf:params:scim:schemas:core:2.0:User',
  enterprise: 'urn:ietf:params:scim:schemas:extension:enterprise:2.0:User',
  group: 'urn:ietf:params:scim:schemas:core:2.0:Group',
  patch: 'urn:ietf:params:scim:api:messages:2.0:PatchOp',
} as const;

export interface ScimAnswer {
  readonly status: number;
  readonly type: string | null;
  readonly etag: string | null;
  readonly body: any; // eslint-disable-line typescript/no-explicit-any -- answers are asserted, not typed
}

/** A world listens once, and ends that itself. */
const listenings = new WeakMap<World, Promise<Listening>>();

/** A directory that an identity provider pushes, and the provider's side of it. */
export class ScimClient {
  readonly url: string;
  readonly token: string;
  readonly integrationId: string;
  readonly endpointId: string;

  private constructor(listening: Listening, connected: Awaited<ReturnType<typeof connect>>) {
    const { pathname } = new URL(connected.webhook_endpoint_url as string);
    this.url = listening.url + pathname;
    this.endpointId = pathname.split('/').at(-2) ?? '';
    this.token = connected.webhook_secret as string;
    this.integrationId = connected.id as string;
  }

  /** @param again id of an integration that was disconnected */
  static async connect(world: World, manager: TestClient, name = 'Directory', again?: string): Promise<ScimClient> {
    const connected = await connect(manager, name, again);
    const listening = listenings.get(world) ?? world.listen();
    listenings.set(world, listening);
    return new ScimClient(await listening, connected);
  }

  async send(
    method: string,
    path: string,
    body?: unknown,
    headers: Readonly<Record<string, string>> = {},
  ): Promise<ScimAnswer> {
    const response = await fetch(this.url + path, {
      method,
      headers: { authorization: `Bearer ${this.token}`, 'content-type': 'application/scim+json', ...headers },
      ...(body === undefined ? {} : { body: typeof body === 'string' ? body : JSON.stringify(body) }),
    });
    const text = await response.text();
    return {
      status: response.status,
      type: response.headers.get('content-type'),
      etag: response.headers.get('etag'),
      body: text === '' ? undefined : JSON.parse(text),
    };
  }

  async createUser(userName: string, more: object = {}): Promise<string> {
    const { body } = await this.send('POST', '/Users', { schemas: [scimSchemas.user], userName, ...more });
    return body.id as string;
  }

  async createGroup(displayName: string, members: readonly string[] = []): Promise<string> {
    const { body } = await this.send('POST', '/Groups', {
      schemas: [scimSchemas.group],
      displayName,
      members: members.map((value) => ({ value })),
    });
    return body.id as string;
  }

  patch(path: string, ...operations: readonly object[]): Promise<ScimAnswer> {
    return this.send('PATCH', path, { schemas: [scimSchemas.patch], Operations: operations });
  }

  async membersOf(groupId: string): Promise<string[]> {
    const { body } = await this.send('GET', `/Groups/${groupId}`);
    return ((body.members ?? []) as readonly { readonly value: string }[]).map(({ value }) => value).toSorted();
  }
}

async function connect(manager: TestClient, name: string, again: string | undefined) {
  const { status, body } = await manager.post('/v1/integrations/scim/config', {
    name,
    ...(again === undefined ? {} : { integration_id: again }),
  });
  if (status !== 200) throw new Error(`the directory is not connected: ${JSON.stringify(body)}`);
  return body;
}
