import { onceForEach } from '../../kit/base/once-for-each.ts';
import { snakeCase } from '../../kit/base/snake-case.ts';
import type { Field } from '../../kit/model/declared-field.ts';
import type { EntityModule } from '../../kit/model/define.ts';
import { answeredFields } from '../../kit/model/exposure.ts';
import type { ExpressionEnvironment, ExpressionType } from './expressions.ts';

/** `trigger`: triggers, conditions. `action`: `when` and values of actions, which know the workflow and its decisions as well. */
export type ExpressionUsage = 'trigger' | 'action';

const types = {
  text: 'string',
  textList: 'list<string>',
  choice: 'string',
  integer: 'int',
  decimal: 'double',
  boolean: 'bool',
  date: 'timestamp',
  timestamp: 'timestamp',
  reference: 'string',
  json: 'dyn',
  file: 'string',
} as const satisfies Record<Field['type'], ExpressionType>;

/** Types of the values that every record has in answers. */
const recordTypes: Readonly<Record<string, ExpressionType>> = {
  id: 'string',
  createdAt: 'timestamp',
  updatedAt: 'timestamp',
  recordVersion: 'int',
  organizationId: 'string',
  userId: 'string',
};

/** Type of the value of a field in expressions. */
export function expressionType({ type, optional }: Pick<Field, 'type' | 'optional'>): ExpressionType {
  return optional && type !== 'json' && type !== 'textList' ? `${types[type]}?` : types[type];
}

/** Fields of a record in expressions: those of answers, so never secret ones. */
const recordFields = onceForEach((module: EntityModule): Readonly<Record<string, ExpressionType>> => {
  const entries = answeredFields(module).map((name): [string, ExpressionType] => {
    const field = module.fields[name];
    return [snakeCase(name), field ? expressionType(field) : (recordTypes[name] ?? 'dyn')];
  });
  return Object.fromEntries(entries);
});

const changeVariables = (module: EntityModule): Readonly<Record<string, ExpressionType>> => ({
  object: module.typeName,
  old_object: `${module.typeName}?`,
  user_id: 'string?',
  changed_fields: 'list<string>',
  changed_edges: 'list<string>',
  added_ids: 'map<string, list<string>>',
  removed_ids: 'map<string, list<string>>',
  event_type: 'string',
  event_time: 'timestamp',
  proposed_changes: 'map<string, dyn>',
});

const runVariables: Readonly<Record<string, ExpressionType>> = {
  assignments: 'Decisions',
  instance: 'Instance',
  initiator: 'string?',
  instance_id: 'string',
  definition_id: 'string',
  object_id: 'string',
  object_type: 'string',
  action_key: 'string',
};

const counts = { total: 'int', pending: 'int', approved: 'int', rejected: 'int' };

const runObjects: ExpressionEnvironment['objects'] = {
  Decisions: { ...counts, by_action: 'map<string, ActionDecisions>' },
  ActionDecisions: { ...counts, key: 'string', status: 'string', approver_ids: 'list<string>' },
  Instance: { id: 'string', state: 'string', current_action_index: 'int' },
};

const environments = onceForEach((module: EntityModule): Readonly<Record<ExpressionUsage, ExpressionEnvironment>> => {
  const objects = { [module.typeName]: recordFields(module) };
  const variables = changeVariables(module);
  return {
    trigger: { variables, objects },
    action: { variables: { ...variables, ...runVariables }, objects: { ...objects, ...runObjects } },
  };
});

/** The variables of expressions about records of a kind; one object for each kind and usage. */
export function environmentOf(module: EntityModule, usage: ExpressionUsage): ExpressionEnvironment {
  return environments(module)[usage];
}
