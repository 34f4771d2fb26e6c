import type { TokenSort } from '#entities/kit/model/scopes.ts';
import type { TestClient } from '../test-client.ts';
import type { World } from '../world.ts';

interface Program {
  readonly sort: TokenSort;
  readonly scopes: readonly string[];
  /** Creates the token. */
  readonly by: TestClient;
  readonly organizationId: string;
}

/** A client with a new token, and the id of the token. */
export async function tokenProgram(
  world: World,
  { sort, scopes, by, organizationId }: Program,
): Promise<TestClient & { id: string }> {
  const path = sort === 'api' ? '/v1/api-tokens' : '/v1/personal-access-tokens';
  const only = sort === 'api' ? {} : { organization_ids: [organizationId] };
  const { status, body } = await by.post(path, { name: 'a program', scopes, ...only });
  if (status !== 201) throw new Error(JSON.stringify(body));
  const made = world.client();
  made.bearer = body.token;
  return Object.assign(made, { id: body.id as string });
}
