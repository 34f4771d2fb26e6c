import { Type, type Static } from 'typebox';
import type { ProviderContext } from '../definition.ts';
import { invalidAnswer } from '../provider-answer.ts';
import { askAsInstallation, asking } from './app-client.ts';

const pageSize = 100;

export const RepositoryListInput = Type.Object(
  {
    page: Type.Optional(
      Type.Integer({ minimum: 1, maximum: 10_000, default: 1, description: 'Number of the page, from 1.' }),
    ),
  },
  { additionalProperties: false },
);

interface Repository {
  readonly id?: unknown;
  readonly full_name?: unknown;
  readonly private?: unknown;
  readonly archived?: unknown;
  readonly default_branch?: unknown;
}

/** The repositories that the installation may read, a page of them. @throws ProviderError */
export async function listRepositories(
  context: ProviderContext,
  input: Readonly<Record<string, unknown>>,
): Promise<Readonly<Record<string, unknown>>> {
  // Checked by the schema of the operation.
  const { page = 1 } = input as Static<typeof RepositoryListInput>;
  const ask = await askAsInstallation(context);
  const { data } = await asking(() => ask('GET /installation/repositories', { page, per_page: pageSize }));
  const { repositories, total_count: total } = data as {
    readonly repositories?: unknown;
    readonly total_count?: unknown;
  };
  if (!Array.isArray(repositories) || typeof total !== 'number')
    throw invalidAnswer('its answer is no page of repositories');
  return {
    repositories: repositories.map((given: unknown) => repositoryOf((given ?? {}) as Repository)),
    total,
    nextPage: repositories.length > 0 && page * pageSize < total ? page + 1 : null,
  };
}

function repositoryOf({ id, full_name: name, private: isPrivate, archived, default_branch: branch }: Repository) {
  if (typeof id !== 'string' || typeof name !== 'string') throw invalidAnswer('a repository has no id or no name');
  return {
    id,
    name,
    isPrivate: isPrivate === true,
    isArchived: archived === true,
    defaultBranch: typeof branch === 'string' ? branch : null,
  };
}
