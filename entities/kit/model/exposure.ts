import { onceForEach } from '../base/once-for-each.ts';
import { tenancyField, type EntityModule } from './define.ts';
import type { Field } from './declared-field.ts';
import { openProposalField } from './derived/open-proposal.ts';

export type NamedField = readonly [name: string, field: Field];

/** Whether the APIs show a kind at all: a kind without exposed fields is hidden. */
export function isExposed({ expose }: EntityModule): boolean {
  return Object.keys(expose).length > 0;
}

export const readableFields = onceForEach((module: EntityModule): readonly NamedField[] =>
  exposedFields(module).filter(([name]) => module.expose[name] !== 'write'),
);

/** Fields that callers can set at creation. */
export const writableFields = onceForEach((module: EntityModule): readonly NamedField[] =>
  exposedFields(module).filter(([name, { generated }]) => module.expose[name] !== 'read' && !generated),
);

/** Fields that callers can change after creation. */
export const changeableFields = onceForEach((module: EntityModule): readonly NamedField[] =>
  writableFields(module).filter(([, { immutable }]) => !immutable),
);

/** Fields of a record in answers, in order: those of every record, the tenancy field, and the exposed fields of its kind. */
export function answeredFields(module: EntityModule): string[] {
  const exposed = readableFields(module).map(([name]) => name);
  return ['id', 'createdAt', 'updatedAt', 'recordVersion', ...tenancyField(module.tenancy), ...exposed];
}

/**
 * Fields that answers have and an input must not have, each with the reason as the end of a sentence.
 * @param accepted the fields of the input
 */
export function refusedFields(module: EntityModule, accepted: ReadonlySet<string>): Map<string, string> {
  const creatable = new Set(writableFields(module).map(([name]) => name));
  const answered = [...answeredFields(module), ...(module.automation ? [openProposalField.name] : [])];
  const refused = answered.filter((name) => !accepted.has(name));
  return new Map(
    refused.map((name) => [name, creatable.has(name) ? 'cannot be changed after creation' : whyReadOnly(module, name)]),
  );
}

function whyReadOnly({ tenancy, fields }: EntityModule, name: string): string {
  if (tenancy === 'organization' && name === 'organizationId')
    return 'is read-only: it is the organization in which you act; POST /v1/switch acts in another one';
  return `is read-only: ${fields[name]?.changedElsewhere ?? 'the server sets it'}`;
}

/** Whether a creation must set the field. */
export function isRequired(field: Pick<Field, 'optional' | 'default' | 'creator' | 'isFilled'>): boolean {
  return !field.optional && field.default === undefined && !field.creator && !field.isFilled;
}

function exposedFields({ fields, expose }: EntityModule): NamedField[] {
  return Object.keys(expose).flatMap((name): NamedField[] => {
    const field = fields[name];
    return field ? [[name, field]] : [];
  });
}
