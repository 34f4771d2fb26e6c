import { didYouMean } from '../../kit/base/did-you-mean.ts';
import { isId } from '../../kit/base/ids.ts';
import { notAnId, oneOf } from '../../kit/base/schema-problem.ts';
import { roles } from '../../kit/model/caller.ts';
import { resolversOf } from './automated-kinds.ts';
import type { CheckContext } from './check-context.ts';
import { checkPart } from './check-part.ts';
import { targetPart } from './document-schema.ts';

/** Checks people who are asked or notified. */
export function checkTargets(context: CheckContext, given: unknown, path: string): void {
  if (!Array.isArray(given)) return;
  for (const [index, target] of given.entries()) checkTarget(context, target, `${path}/${index}`);
}

function checkTarget(context: CheckContext, given: unknown, path: string): void {
  const { problems, references } = context;
  const { type, id, resolver_key: key } = checkPart(targetPart, given, path, problems) ?? {};
  if (type === 'RESOLVER') {
    checkResolver(context, key, path);
    if (id !== undefined) problems.add(`${path}/id`, 'unknown_key', 'is not a key of a RESOLVER: remove it');
    return;
  }
  if (type === undefined) return;
  if (key !== undefined)
    problems.add(`${path}/resolver_key`, 'unknown_key', `is only for the type RESOLVER; the others have "id"`);
  if (typeof id !== 'string' || id === '')
    problems.add(`${path}/id`, 'target_missing_id', `is required: ${idsOf[type as keyof typeof idsOf]}`);
  else if (type === 'ROLE') {
    if (!(roles as readonly string[]).includes(id)) problems.add(`${path}/id`, 'target_invalid_role', oneOf(roles, id));
  } else if (isId(id))
    references.push({ path: `${path}/id`, kind: type === 'USER' ? 'user' : 'group', id, code: 'target_not_found' });
  else problems.add(`${path}/id`, 'target_not_found', notAnId(id));
}

const idsOf = {
  USER: 'the id of a member of the organization',
  GROUP: 'the id of a group of the organization',
  ROLE: `a role, one of ${roles.join(', ')}`,
};

function checkResolver({ module, problems }: CheckContext, key: unknown, path: string): void {
  const known = [...resolversOf(module).keys()];
  if (typeof key !== 'string' || key === '')
    problems.add(`${path}/resolver_key`, 'target_missing_resolver_key', `is required: one of ${known.join(', ')}`);
  else if (!known.includes(key)) {
    const near = didYouMean(key, known);
    const hint = near === undefined ? '' : ` (did you mean "${near}"?)`;
    problems.add(
      `${path}/resolver_key`,
      'target_unknown_resolver',
      `names no person of a ${module.typeName}${hint}: one of ${known.join(', ')}`,
    );
  }
}
