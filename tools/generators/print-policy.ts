import { registry } from '#entities/index.ts';
import type { Condition, Operation } from '#entities/kit/model/policy.ts';
import { printRule } from '#entities/kit/model/print-rule.ts';

const operations = ['view', 'create', 'edit', 'remove'] as const satisfies readonly Operation[];

/** Every condition as the tables print it, and what it means. */
const conditions: Readonly<Record<Condition['is'], readonly [printed: string, meaning: string]>> = {
  anyone: ['anyone', 'Every caller, also an anonymous one.'],
  system: ['system', 'Work of the server itself.'],
  'signed-in': ['signedIn', 'A person who is signed in; not an API token.'],
  role: ['role R', 'The caller has one of these roles in the current organization.'],
  'role-in': ['role in F: R', 'The field F is the current organization, and the caller has one of these roles there.'],
  self: ['self as F', 'The field F is the id of the caller.'],
  'member-of': ['member of F', 'The caller is a member of the organization in the field F.'],
  scope: [
    'scope',
    'The caller is an API token with the scope for this operation on this kind. `given by R`: people with these roles give tokens the scope without having the right. `as F`: the field F is the id of the token.',
  ],
  creators: ['creators', 'A group of the caller may create records of this kind.'],
  related: ['related as R', 'The caller, or one of their groups, has one of these relations to the record.'],
  through: [
    'through F',
    'The caller has the corresponding right to the record in the field F: view for view, edit for create, edit and remove.',
  ],
  'about-hidden': [
    'about a record in F that the caller cannot view',
    'The field F has the id of a record, and the caller cannot view this record.',
  ],
};

/** The reference page of the policies: who may do what with records of each kind. */
export function printPolicy(): string {
  const tables = registry.modules.flatMap(({ kind, description, policy, restricted, behaviours = [] }) => [
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
      : ['No policy: everyone in the organization can read the records. Changes are dropped without an error.']),
    ...(restricted
      ? [
          '',
          `To create or delete a record whose ${restricted.field} is ${restricted.is}, a caller also needs the right to ${restricted.requires} the record in ${restricted.on}.`,
        ]
      : []),
    ...behaviours.flatMap(({ rules = [] }) => rules.flatMap((rule) => ['', rule])),
    '',
  ]);
  return [
    '# Policies',
    '',
    'The rules of an operation are evaluated in order, and the first that applies decides. If none applies, reads are allowed and',
    'changes are refused. An operation on a record that the caller may not view returns `not_found`. Printed by `npm run derive`',
    'from the policies of the kinds. Auditors only read: creators, related and through give them no right to change records.',
    'The expected rights in each situation are in `entities/<area>/<kind>.rights.yaml`.',
    '',
    '| Condition | Applies if |',
    '| --- | --- |',
    ...Object.values(conditions).map(([printed, meaning]) => `| ${printed} | ${meaning} |`),
    '',
    ...tables,
  ].join('\n');
}
