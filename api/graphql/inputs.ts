import {
  GraphQLInputObjectType,
  GraphQLNonNull,
  type GraphQLInputFieldConfig,
  type GraphQLLeafType,
  type GraphQLList,
} from 'graphql';
import type { Creation } from '#entities/kit/creations.ts';
import type { Answer } from '#entities/kit/data-client.ts';
import type { EntityModule } from '#entities/kit/define.ts';
import type { Field } from '#entities/kit/fields.ts';
import { storedWords } from './choice-words.ts';

/** Type of a field's values, as they are given. */
type ValueType = (
  module: EntityModule,
  field: string,
) => GraphQLLeafType | GraphQLList<GraphQLNonNull<GraphQLLeafType>>;

/** What creations and changes of the kinds are given, and what it means to the data layer; each type is made once. */
export class InputTypes {
  readonly #valueType: ValueType;
  readonly #creations = new Map<string, GraphQLInputObjectType>();
  readonly #changes = new Map<string, GraphQLInputObjectType>();

  constructor(valueType: ValueType) {
    this.#valueType = valueType;
  }

  creation(module: EntityModule): GraphQLInputObjectType {
    const made = this.#creations.get(module.kind);
    if (made) return made;
    const type = new GraphQLInputObjectType({
      name: `Create${module.typeName}Input`,
      description: 'What is left out has its default, or is empty.',
      fields: () =>
        Object.fromEntries(
          writableFields(module).map(([name, field]): [string, GraphQLInputFieldConfig] => {
            const value = this.#valueType(module, name);
            return [
              name,
              { type: isNeeded(field) ? new GraphQLNonNull(value) : value, description: field.description },
            ];
          }),
        ),
    });
    this.#creations.set(module.kind, type);
    return type;
  }

  change(module: EntityModule): GraphQLInputObjectType {
    const made = this.#changes.get(module.kind);
    if (made) return made;
    const changeable = writableFields(module).filter(([, field]) => !field.immutable);
    const type = new GraphQLInputObjectType({
      name: `Update${module.typeName}Input`,
      description: 'What is left out stays as it is; null empties an optional field.',
      fields: Object.fromEntries(
        changeable.map(([name, field]) => [
          name,
          { type: this.#valueType(module, name), description: field.description },
        ]),
      ),
    });
    this.#changes.set(module.kind, type);
    return type;
  }

  /** @param path where the input stands in that of the operation, as a JSON pointer */
  creationOf(module: EntityModule, input: Answer, path: string): Creation {
    return { module, path, input: storedValues(module, input) };
  }
}

/** Fields that callers give. */
function writableFields(module: EntityModule): [string, Field][] {
  return Object.entries(module.expose).flatMap(([name, exposure]): [string, Field][] => {
    const field = module.fields[name];
    return field && exposure !== 'read' ? [[name, field]] : [];
  });
}

function isNeeded(field: Field): boolean {
  return !field.optional && field.default === undefined && !field.creator;
}

/** Values as the rows hold them. */
export function storedValues(module: EntityModule, input: Answer): Record<string, unknown> {
  return Object.fromEntries(
    Object.entries(input).map(([name, value]) => [
      name,
      module.fields[name]?.type === 'choice' ? storedWords(value) : value,
    ]),
  );
}
