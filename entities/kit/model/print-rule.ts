import type { Condition, Rule } from './policy.ts';

export function printRule(rule: Rule | undefined): string {
  return rule ? `${rule.effect}(${printCondition(rule.when)})` : 'no rule';
}

function printCondition(condition: Condition): string {
  switch (condition.is) {
    case 'anyone':
    case 'system':
    case 'creators':
      return condition.is;
    case 'scope':
      return [
        condition.is,
        ...(condition.field === undefined ? [] : [`as ${condition.field}`]),
        ...(condition.givenBy ? [`given by ${condition.givenBy.join(' / ')}`] : []),
      ].join(' ');
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
    case 'about-hidden':
      return `about a record in ${condition.field} that the caller cannot view`;
    default:
      condition satisfies never;
      throw new Error('unknown condition');
  }
}
