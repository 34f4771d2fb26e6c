import { registry } from '#entities/index.ts';
import type { Operation } from '#entities/kit/model/policy.ts';
import { printRule } from '#entities/kit/model/print-rule.ts';

const operations = ['view', 'create', 'edit', 'remove'] as const satisfies readonly Operation[];

/** The reference page of all rules: who may do what with records of each kind. */
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
      : ['It has no rules: everybody may read, and writes are dropped.']),
    '',
  ]);
  return [
    '# Rules',
    '',
    'The first rule that applies decides; after the last one reads are allowed and changes refused. A record that may not be',
    'viewed is as if it were not there. Printed by `npm run derive`; who gets what in which situation is written in',
    '`test/entities/expected-rights.yaml`.',
    '',
    ...tables,
  ].join('\n');
}
