import type { Row } from '#entities/automation/approvals/approval-work.ts';
import type { CreateObjectAction } from '#entities/automation/document/definition-document.ts';
import { AppError } from '#entities/kit/base/errors.ts';
import { snakeCase } from '#entities/kit/base/snake-case.ts';
import { writableFields } from '#entities/kit/model/exposure.ts';
import type { ActionRun } from '../action-run.ts';
import { fieldValue, typeOfField } from './field-value.ts';

/** Creates a record, as the person who published the version. */
export async function createObject(run: ActionRun, { params }: CreateObjectAction): Promise<Row> {
  const { registry } = run.work.unit;
  const { object_type: type } = params;
  const module = registry.modules.find(({ kind, typeName }) => type === kind || type === typeName);
  if (!module) throw new AppError('rule_violated', `There is no kind of records "${type}" any more.`);
  const writable = new Map(writableFields(module).map(([field]) => [snakeCase(field), field]));
  const given = Object.entries(params.fields).map(([name, value]) => {
    const field = writable.get(name);
    if (field === undefined) throw new AppError('rule_violated', `A new ${type} has no field "${name}" any more.`);
    return { field, value, expected: typeOfField(module, field) };
  });
  const resolved = await run.resolve(given);
  const values = Object.fromEntries(given.map(({ field }, n) => [field, fieldValue(module, field, resolved[n])]));
  const data = await run.asPublisher();
  const input = { organizationId: run.locked.instance.organizationId, ...values };
  const [created] = await data.createAll([{ module, input, path: '' }]);
  return { kind: module.kind, id: created?.['id'] };
}
