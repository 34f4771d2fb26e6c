import { escapeLiteral } from 'pg';
import type { EntityModule } from '#entities/kit/model/define.ts';
import { AppError } from '#entities/kit/base/errors.ts';
import type { Field } from '#entities/kit/model/declared-field.ts';
import { snakeCase } from '#entities/kit/base/snake-case.ts';

/**
 * Statements that add required columns give the rows that are there the field's default, which stays the product's business
 * afterwards.
 * @throws AppError invalid_input when a field has none
 */
export function withDefaults(statements: readonly string[], modules: readonly EntityModule[]): string[] {
  return statements.flatMap((statement) => {
    const module = modules.find(({ table }) => statement.startsWith(`alter table "${table}" add "`));
    if (!module) return [statement];
    let filling = statement;
    const drops: string[] = [];
    for (const [name, field] of Object.entries(module.fields)) {
      const column = `add "${snakeCase(name)}" ${field.columnType} not null`;
      if (!statement.includes(column)) continue;
      const value = defaultOf(module, name, field);
      filling = filling.replace(column, () => `${column} default ${value}`);
      drops.push(`alter table "${module.table}" alter column "${snakeCase(name)}" drop default;`);
    }
    return [filling, ...drops];
  });
}

function defaultOf({ kind }: EntityModule, name: string, field: Field): string {
  const value = field.default;
  if (value === undefined)
    throw new AppError(
      'invalid_input',
      `Records of "${kind}" that are there have no "${name}", which is required: make it optional, or give it a default.`,
    );
  if (field.type === 'textList') return `'{}'`;
  if (value instanceof Date) return escapeLiteral(value.toISOString());
  const isPlain = typeof value === 'string' && field.type !== 'json';
  return escapeLiteral(isPlain ? value : JSON.stringify(value));
}
