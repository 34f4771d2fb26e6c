import { registry } from '#entities/index.ts';
import type { Condition, Operation, Rule } from '#entities/kit/policy.ts';

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

/** A rule as its entity file writes it. */
export function printRule(rule: Rule | undefined): string {
  return rule ? `${rule.effect}(${printCondition(rule.when)})` : 'no rule';
}

function printCondition(condition: Condition): string {
  switch (condition.is) {
    case 'anyone':
    case 'system':
    case 'scope':
    case 'creators':
      return condition.is;
    case 'signed-in':
      return 'signedIn';
    case 'role':
      return `role ${condition.roles.join(' / ')}`;
    case 'role-in':
      return `role in ${condition.field}: ${condition.roles.join(' / ')}`;
    case 'self':
      return `self as ${condition.field}`;
    case 'member-of':
      return `member of ${condition.field}`;
    case 'related':
      return `related as ${condition.relations.join(' / ')}`;
    case 'through':
      return `through ${condition.field}`;
    default:
      condition satisfies never;
      throw new Error('unknown condition');
  }
}
