import type { Row } from '#entities/automation/approvals/approval-work.ts';
import { fieldNamed } from '#entities/automation/document/automated-kinds.ts';
import type { UpdateFieldAction } from '#entities/automation/document/definition-document.ts';
import { AppError } from '#entities/kit/base/errors.ts';
import type { ActionRun } from '../action-run.ts';
import { fieldValue, typeOfField } from './field-value.ts';

/** Sets fields of the record, as the person who published the version; gates of other definitions can hold them. */
export async function updateFields(run: ActionRun, { params }: UpdateFieldAction): Promise<Row> {
  const { instance, module, record } = run.locked;
  if (!record) throw new AppError('rule_violated', 'The record is deleted, so no field of it can be set.');
  const names = Object.keys(params.updates).map((name) => [name, fieldNamed(module, name) ?? name] as const);
  const resolved = await run.resolve(
    names.map(([name, field]) => ({ value: params.updates[name], expected: typeOfField(module, field) })),
  );
  const values = Object.fromEntries(names.map(([, field], n) => [field, fieldValue(module, field, resolved[n])]));
  const data = await run.asPublisher();
  await data.update(module, instance.subjectId, values);
  const held = data.heldOf([instance.subjectId]).map(({ field }) => field);
  return { fields: Object.keys(values), ...(held.length > 0 ? { held } : {}) };
}
