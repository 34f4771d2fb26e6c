import { registry } from '#entities/index.ts';
import type { Operation } from '#entities/kit/model/policy.ts';
import { printRule } from '#entities/kit/model/print-rule.ts';

const operations = ['view', 'create', 'edit', 'remove'] as const satisfies readonly Operation[];

/** The reference page of the policies: who may do what with records of each kind. */
export function printPolicy(): string {
  const tables = registry.modules.flatMap(({ kind, description, policy }) => [
    `## ${kind}`,
    '',
    description,
    '',
    ...(policy
      ? [
          '| Operation | Rules, in order |',
          '| --- | --- |',
          ...operations.map((operation) => `| ${operation} | ${policy[operation].map(printRule).join(', then ')} |`),
        ]
      : ['No rules: everybody in the organization reads records, and changes are ignored.']),
    '',
  ]);
  return [
    '# Rules',
    '',
    'The first rule that applies decides; if none applies, reads are allowed and changes are refused. Operations on a record that',
    'the caller may not view answer `not_found`. Printed by `npm run derive`; `entities/<area>/<kind>.rights.yaml` lists who may do',
    'what in which situation.',
    '',
    ...tables,
  ].join('\n');
}
