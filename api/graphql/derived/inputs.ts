import {
  GraphQLID,
  GraphQLInputObjectType,
  GraphQLList,
  GraphQLNonNull,
  type GraphQLInputFieldConfig,
  type GraphQLLeafType,
} from 'graphql';
import { linkDescription, linksOf, withoutLinks } from '#entities/kit/model/links.ts';
import { linksAsChildren, type Creation } from '#entities/kit/write/creations.ts';
import type { RecordJson } from '#entities/kit/unit/answers.ts';
import type { EntityModule } from '#entities/kit/model/define.ts';
import { valueProblems } from '#entities/kit/model/input.ts';
import { changeableFields, isRequired, refusedFields, writableFields } from '#entities/kit/model/exposure.ts';
import { purposeOf } from '#entities/kit/model/files/upload-purpose.ts';
import { relationsOf, type ToMany } from '#entities/kit/read/relations.ts';
import type { Registry } from '#entities/kit/model/registry.ts';
import { capitalized } from '../capitalized.ts';
import { storedWords } from './choice-words.ts';
import { checking, refusing } from '../input-problems.ts';
import { takesFile } from '../documents/variable-purposes.ts';

/** GraphQL type of the values of a field. */
type ValueType = (
  module: EntityModule,
  field: string,
) => GraphQLLeafType | GraphQLList<GraphQLNonNull<GraphQLLeafType>>;

/** Input types of creations and changes, and their translation for the data layer. Each type is created once. */
export class InputTypes {
  readonly #registry: Registry;
  readonly #valueType: ValueType;
  readonly #creations = new Map<string, GraphQLInputObjectType>();
  readonly #changes = new Map<string, GraphQLInputObjectType>();

  constructor(registry: Registry, valueType: ValueType) {
    this.#registry = registry;
    this.#valueType = valueType;
  }

  /** @param link the reference to the enclosing record, which is filled in automatically */
  creation(module: EntityModule, link?: ToMany): GraphQLInputObjectType {
    const key = link ? `${module.kind} ${link.field}` : module.kind;
    const made = this.#creations.get(key);
    if (made) return made;
    const type = new GraphQLInputObjectType({
      name: `Create${module.typeName}${link ? `By${capitalized(link.field)}` : ''}Input`,
      description: 'Omitted fields get their default value or stay empty.',
      extensions: {
        ...refusing(refusedFields(module, new Set(writableFields(module).map(([field]) => field)))),
        ...checking((values) => valueProblems(module, this.stored(module, values).values)),
      },
      fields: () => {
        const fields = writableFields(module).filter(([field]) => field !== link?.field);
        return Object.fromEntries<GraphQLInputFieldConfig>([
          ...fields.map(([field, { description, ...shape }]): [string, GraphQLInputFieldConfig] => {
            const value = this.#valueType(module, field);
            const type = isRequired(shape) ? new GraphQLNonNull(value) : value;
            return [field, { type, description, ...takesFile(purposeOf(module, field)) }];
          }),
          ...this.#children(module).map(([field, relation]): [string, GraphQLInputFieldConfig] => [
            field,
            {
              type: new GraphQLList(new GraphQLNonNull(this.creation(relation.target, relation))),
              description: `${relation.target.typeName} records to create together with this record.`,
            },
          ]),
          ...this.#linkInputs(module, ['add']),
        ]);
      },
    });
    this.#creations.set(key, type);
    return type;
  }

  /** Relations whose records can be created with a record, by input field: they are also deleted with it. */
  #children(module: EntityModule): [string, ToMany][] {
    return [...relationsOf(this.#registry, module).values()].flatMap((relation): [string, ToMany][] => {
      if (relation.is !== 'many') return [];
      const { target, field } = relation;
      const isItsOwn = target.fields[field]?.onDelete === 'cascade';
      const isOpen = target.mutate?.includes('create') && writableFields(target).some(([name]) => name === field);
      return isItsOwn && isOpen ? [[`create${capitalized(relation.name)}`, relation]] : [];
    });
  }

  /** Inputs of ids of records to link, or of which to end the link. */
  #linkInputs(module: EntityModule, changes: readonly ('add' | 'remove')[]): [string, GraphQLInputFieldConfig][] {
    const type = new GraphQLList(new GraphQLNonNull(GraphQLID));
    return linksOf(this.#registry, module).flatMap((links) =>
      changes.map((change): [string, GraphQLInputFieldConfig] => [
        links[change],
        { type, description: linkDescription(links, change) },
      ]),
    );
  }

  /** The values of an input as they are stored, and its changes of links. @param path JSON pointer of the input */
  stored(module: EntityModule, input: RecordJson, path = '') {
    const { values, links } = withoutLinks(this.#registry, module, input, path);
    return { values: storedValues(module, values), links };
  }

  change(module: EntityModule): GraphQLInputObjectType {
    const made = this.#changes.get(module.kind);
    if (made) return made;
    const changeable = changeableFields(module);
    const type = new GraphQLInputObjectType({
      name: `Update${module.typeName}Input`,
      description: 'Omitted fields stay unchanged; null clears an optional field.',
      extensions: {
        ...refusing(
          refusedFields(module, new Set(changeable.map(([name]) => name))).set(
            'recordVersion',
            'is an argument beside input',
          ),
        ),
        ...checking((values) => valueProblems(module, this.stored(module, values).values)),
      },
      fields: Object.fromEntries([
        ...changeable.map(([name, field]): [string, GraphQLInputFieldConfig] => [
          name,
          {
            type: this.#valueType(module, name),
            description: field.description,
            ...takesFile(purposeOf(module, name)),
          },
        ]),
        ...this.#linkInputs(module, ['add', 'remove']),
      ]),
    });
    this.#changes.set(module.kind, type);
    return type;
  }

  /** @param path JSON pointer to the input within the operation's input */
  creationOf(module: EntityModule, input: RecordJson, path: string): Creation {
    const relations = this.#children(module);
    const own = Object.entries(input).filter(([name]) => relations.every(([field]) => field !== name));
    const children = relations.flatMap(([name, { field, target }]) =>
      ((input[name] ?? []) as readonly RecordJson[]).map((below, index) => ({
        field,
        creation: this.creationOf(target, below, `${path}/${name}/${index}`),
      })),
    );
    const { values, links } = this.stored(module, Object.fromEntries(own), path);
    return { module, path, input: values, children: [...children, ...linksAsChildren(links)] };
  }
}

/** Values as they are stored. */
function storedValues(module: EntityModule, input: RecordJson): Record<string, unknown> {
  return Object.fromEntries(
    Object.entries(input).map(([name, value]) => [
      name,
      module.fields[name]?.type === 'choice' ? storedWords(value) : value,
    ]),
  );
}
