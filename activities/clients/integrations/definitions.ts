import { soleExports, sourceModules } from '#entities/kit/base/source-modules.ts';
import { AppError } from '#entities/kit/base/errors.ts';
import type { Config } from '#config/objects/root.ts';
import { notifyingDefinitions } from '#entities/notifications/notifying-definitions.ts';
import type { Connection, Credential, IntegrationDefinition, Operation } from './definition.ts';

const modules = await sourceModules('activities/clients/integrations', 'definition.ts');

/** Every integration of the product: those of each `activities/clients/integrations/<id>/definition.ts`, in the order of their ids. */
export const integrationDefinitions: readonly IntegrationDefinition[] = checkedDefinitions(
  soleExports(
    modules.filter(({ path }) => !path.endsWith('integrations/definition.ts')),
    'integration',
    isDefinition,
  ).map(({ value }) => value),
);

const byId: ReadonlyMap<string, IntegrationDefinition> = new Map(
  integrationDefinitions.map((definition) => [definition.id, definition]),
);

/** @throws TypeError for definitions that contradict each other or themselves */
export function checkedDefinitions(definitions: readonly IntegrationDefinition[]): readonly IntegrationDefinition[] {
  refuseTwice(
    definitions.map(({ id }) => id),
    'integrations',
  );
  for (const { id, connections, operations, mappings, webhooks, notify } of definitions) {
    if ((notify !== undefined) !== (notifyingDefinitions as readonly string[]).includes(id))
      throw new TypeError(`${id}: notifyingDefinitions names the definitions with a "notify", and no others`);
    refuseTwice(
      connections.map(({ credentialRef }) => credentialRef),
      `connections of ${id}`,
    );
    refuseTwice(
      operations.map(({ name }) => name),
      `operations of ${id}`,
    );
    refuseTwice(
      webhooks.map(({ name }) => name),
      `webhooks of ${id}`,
    );
    refuseTwice(
      mappings.map(({ kind, variant = '' }) => `${kind} ${variant}`),
      `mappings of ${id}`,
    );
    for (const operation of operations)
      for (const kind of operation.policy === 'run' ? operation.ingests : [])
        if (!mappings.some((mapping) => mapping.kind === kind))
          throw new TypeError(`${id} has no mapping for the ${kind} records that ${operation.name} brings in`);
  }
  return definitions;
}

function refuseTwice(names: readonly string[], what: string): void {
  const twice = names.find((name, index) => names.indexOf(name) !== index);
  if (twice !== undefined) throw new TypeError(`"${twice}" is there twice among the ${what}`);
}

/** The definition of an installation; undefined for one of which this release has none. */
export function definitionOf(id: string | null): IntegrationDefinition | undefined {
  return id === null ? undefined : byId.get(id);
}

/** @throws AppError not_found for what the settings of the operator do not offer */
export function offeredDefinition(id: string, config: Config): IntegrationDefinition {
  const found = byId.get(id);
  if (found?.isOffered(config)) return found;
  const offered = integrationDefinitions.filter((one) => one.isOffered(config)).map((one) => one.id);
  throw new AppError(
    'not_found',
    `There is no integration "${id}". ${offered.length > 0 ? `This server offers ${offered.join(', ')}.` : 'The operator of this server offers none.'}`,
  );
}

/** @throws AppError not_found */
export function connectionOf({ id, connections }: IntegrationDefinition, credentialRef: string | null): Connection {
  const found = connections.find((one) => one.credentialRef === credentialRef);
  if (found) return found;
  const refs = connections.map((one) => one.credentialRef).join(', ');
  throw new AppError('not_found', `The integration ${id} has no credential "${credentialRef ?? ''}"; it has ${refs}.`);
}

/** When a person has to connect again at the latest, if that is known. */
export function endOfCredential(
  { refresh, expiresAt, endsAt }: Pick<Connection, 'refresh' | 'expiresAt' | 'endsAt'>,
  credential: Credential,
): Date | undefined {
  return refresh ? endsAt?.(credential) : expiresAt?.(credential);
}

/** @throws AppError not_found */
export function operationOf({ id, operations }: IntegrationDefinition, name: string): Operation {
  const found = operations.find((one) => one.name === name);
  if (found) return found;
  const names = operations.map((one) => one.name).join(', ') || 'none';
  throw new AppError('not_found', `The integration ${id} has no operation "${name}"; it has ${names}.`);
}

function isDefinition(value: unknown): value is IntegrationDefinition {
  return typeof value === 'object' && value !== null && 'isOffered' in value && 'connections' in value;
}
