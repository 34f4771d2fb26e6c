import { didYouMean } from '../../kit/base/did-you-mean.ts';
import { isId } from '../../kit/base/ids.ts';
import { notAnId } from '../../kit/base/schema-problem.ts';
import { edgesOf, fieldNamed, fieldNames } from './automated-kinds.ts';
import type { CheckContext } from './check-context.ts';
import { checkPart } from './check-part.ts';
import { conditionPart, selectorPart, triggerPart } from './document-schema.ts';

type Keys = Readonly<Record<string, unknown>>;

/** Whether a name is that of the kind, as `Task` or `task`. */
function namesKind(name: unknown, { module }: CheckContext): boolean {
  return name === module.kind || name === module.typeName;
}

/** @returns the triggers whose form is right */
export function checkTriggers(context: CheckContext, given: unknown): Keys[] {
  const triggers: readonly unknown[] = Array.isArray(given) ? given : [];
  return triggers.flatMap<Keys>((trigger, index) => checkTrigger(context, trigger, `/triggers/${index}`) ?? []);
}

function checkTrigger(context: CheckContext, given: unknown, path: string): Keys | undefined {
  const { module, registry, problems, expressions } = context;
  const trigger = checkPart(triggerPart, given, path, problems);
  if (!trigger) return undefined;
  const { operation, objectType, fields, edges, selector, expression } = trigger;
  if (objectType !== undefined && !namesKind(objectType, context))
    problems.add(
      `${path}/objectType`,
      'trigger_object_type_mismatch',
      `must be "${module.typeName}" as in schemaType; a definition is about records of one kind`,
    );
  if (Array.isArray(fields))
    checkNames(context, fields, `${path}/fields`, { known: fieldNames(module), code: 'trigger_unknown_field' });
  const known = edgesOf(registry, module).map(({ name }) => name);
  if (Array.isArray(edges)) checkNames(context, edges, `${path}/edges`, { known, code: 'trigger_unknown_edge' });
  if (operation === 'DELETE' && (hasItems(fields) || hasItems(edges)))
    problems.add(
      hasItems(fields) ? `${path}/fields` : `${path}/edges`,
      'trigger_fields_of_deletion',
      'a deletion changes no fields and no links: remove this, or use an expression about "object"',
    );
  if (selector !== undefined) checkSelector(context, selector, `${path}/selector`);
  if (typeof expression === 'string')
    expressions.push({ path: `${path}/expression`, expression, usage: 'trigger', expected: 'bool' });
  return trigger;
}

function hasItems(list: unknown): boolean {
  return Array.isArray(list) && list.length > 0;
}

function checkNames(
  { module, problems }: CheckContext,
  names: readonly string[],
  path: string,
  { known, code }: { readonly known: readonly string[]; readonly code: string },
): void {
  for (const [index, name] of names.entries()) {
    if (known.includes(name)) continue;
    const near = didYouMean(name, known);
    const choice = known.length === 0 ? 'it has none' : `one of ${known.join(', ')}`;
    const remedy = near === undefined ? choice : `did you mean "${near}"?`;
    problems.add(`${path}/${index}`, code, `is not among those of a ${module.typeName}: ${remedy}`);
  }
}

export function checkSelector(context: CheckContext, given: unknown, path: string): void {
  const { module, problems, references } = context;
  const selector = checkPart(selectorPart, given, path, problems) ?? {};
  const listed = (key: string) => (Array.isArray(selector[key]) ? (selector[key] as string[]) : []);
  for (const [index, name] of listed('objectTypes').entries())
    if (!namesKind(name, context))
      problems.add(
        `${path}/objectTypes/${index}`,
        'trigger_object_type_mismatch',
        `must be "${module.typeName}" as in schemaType`,
      );
  for (const { key, kind } of [
    { key: 'tagIds', kind: 'tag' },
    { key: 'groupIds', kind: 'group' },
  ])
    for (const [index, id] of listed(key).entries())
      if (isId(id)) references.push({ path: `${path}/${key}/${index}`, kind, id, code: 'selector_not_found' });
      else problems.add(`${path}/${key}/${index}`, 'selector_not_found', notAnId(id));
  if (listed('tagIds').length > 0 && fieldNamed(module, 'tags') === undefined)
    problems.add(`${path}/tagIds`, 'selector_not_supported', `a ${module.typeName} has no tags: remove this`);
  if (listed('groupIds').length > 0 && !module.share)
    problems.add(`${path}/groupIds`, 'selector_not_supported', `a ${module.typeName} is not shared: remove this`);
}

export function checkConditions({ problems, expressions }: CheckContext, given: unknown): void {
  if (!Array.isArray(given)) return;
  for (const [index, condition] of given.entries()) {
    const path = `/conditions/${index}`;
    const { expression } = checkPart(conditionPart, condition, path, problems) ?? {};
    if (typeof expression === 'string')
      expressions.push({ path: `${path}/expression`, expression, usage: 'trigger', expected: 'bool' });
  }
}
