import type { Expressions } from '#entities/automation/document/expressions.ts';
import type { IntegrationDefinition, Mapping } from '../../clients/integrations/definition.ts';
import { integrationDefinitions } from '../../clients/integrations/definitions.ts';
import { filterEnvironment } from '../../clients/integrations/filter-environment.ts';
import { kindsToIngest } from './ingested-kinds.ts';

/**
 * Checks the mappings of definitions when a worker starts.
 * @throws TypeError for an expression that is wrong, or gives a field that the kind does not take from other systems
 */
export async function refuseMappings(
  expressions: Pick<Expressions, 'compile'>,
  definitions: readonly Pick<IntegrationDefinition, 'id' | 'mappings'>[] = integrationDefinitions,
): Promise<void> {
  const problems = await Promise.all(
    definitions.flatMap(({ id, mappings }) =>
      mappings.map(async (mapping) =>
        (await problemsOf(expressions, mapping)).map((problem) => `${id}, ${mapping.kind}: ${problem}`),
      ),
    ),
  );
  const found = problems.flat();
  if (found.length > 0) throw new TypeError(`Mappings of integrations are wrong: ${found.join('; ')}`);
}

async function problemsOf(
  expressions: Pick<Expressions, 'compile'>,
  { kind, mapExpr, filterExpr }: Mapping,
): Promise<string[]> {
  const environment = filterEnvironment;
  const compiled = await Promise.all([
    expressions.compile({ expression: mapExpr, environment, expected: 'map<string, dyn>' }),
    ...(filterExpr === undefined
      ? []
      : [expressions.compile({ expression: filterExpr, environment, expected: 'bool' })]),
  ]);
  const unknown = fieldsOf(mapExpr).filter((name) => !kindsToIngest[kind].fields.includes(name));
  return [
    ...compiled.flatMap((one) => one.problems.map(({ message }) => message)),
    ...unknown.map((name) => `gives "${name}", which is none of ${kindsToIngest[kind].fields.join(', ')}`),
  ];
}

/** Names of the fields that a mapping gives: the keys of its outermost map, which follow its brace or a comma. */
export function fieldsOf(mapExpr: string): string[] {
  const parts = (mapExpr.match(/"(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*'|\w+|\S/g) ?? []).map(String);
  const names: string[] = [];
  let depth = 0;
  for (const [index, part] of parts.entries()) {
    const follows = parts[index - 1] ?? '';
    if (depth === 1 && /^["']/.test(part) && '{,'.includes(follows) && parts[index + 1] === ':')
      names.push(part.slice(1, -1));
    if (/^[{[(]$/.test(part)) depth += 1;
    if (/^[)\]}]$/.test(part)) depth -= 1;
  }
  return names;
}
