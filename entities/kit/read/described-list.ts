import { didYouMean } from '../base/did-you-mean.ts';
import type { FieldProblem } from '../base/errors.ts';
import { namedIn } from '../base/snake-case.ts';
import type { ListFields } from '../model/behaviour.ts';
import type { EntityModule } from '../model/define.ts';
import { answeredFields, isExposed } from '../model/exposure.ts';
import type { Registry } from '../model/registry.ts';
import type { Filter } from './filter.ts';
import { filterInJson } from './json-filter.ts';
import { maxOrderTerms, type OrderTerm } from './order.ts';
import { orderableFields } from './where.ts';

type Values = Readonly<Record<string, unknown>>;

/** A list of records that the fields of a record describe (`describesList`). */
export interface DescribedList {
  readonly module: EntityModule;
  /** Names of the fields of each record. */
  readonly fields: readonly string[];
  readonly filter?: Filter;
  readonly orderBy: readonly OrderTerm[];
}

/** Fields of a kind that a document can have: all that callers read, except files. */
export function listedFields(module: EntityModule): string[] {
  return answeredFields(module).filter((name) => module.fields[name]?.type !== 'file');
}

/** Kinds whose records can be listed so: those of an organization. */
export function listedKinds({ modules }: Registry): readonly EntityModule[] {
  return modules.filter((module) => isExposed(module) && module.tenancy === 'organization');
}

/** @returns the list, or everything that is wrong with its description, by the fields of the record */
export function describedList(
  registry: Registry,
  { kind, fields, filter, orderBy }: ListFields,
  values: Values,
): { readonly list: DescribedList } | { readonly problems: readonly FieldProblem[] } {
  const name = String(values[kind]);
  const known = listedKinds(registry);
  const module = known.find((each) => each.kind === name || each.topic === name);
  if (!module) {
    const names = known.map((each) => each.kind);
    const near = didYouMean(name, names);
    const hint = near === undefined ? '' : ` (did you mean "${near}"?)`;
    const isKind = registry.modules.some((each) => isExposed(each) && (each.kind === name || each.topic === name));
    const problem = isKind
      ? 'is a kind that belongs to no organization, so it cannot be chosen here'
      : 'is no kind of records';
    return { problems: [{ path: `/${kind}`, message: `${problem}${hint}; kinds are ${names.join(', ')}` }] };
  }
  const problems: FieldProblem[] = [];
  const given = listOf(values, fields);
  const shown = given.map((field, index) => named(listedFields(module), field, `/${fields}/${index}`, problems));
  const terms = listOf(values, orderBy).map((term, index): OrderTerm => {
    const isDescending = term.startsWith('-');
    const field = named(orderableFields(module), isDescending ? term.slice(1) : term, `/${orderBy}/${index}`, problems);
    return { field, direction: isDescending ? 'desc' : 'asc' };
  });
  if (terms.length > maxOrderTerms)
    problems.push({ path: `/${orderBy}`, message: `has more than ${maxOrderTerms} fields` });
  const json = filter === undefined ? null : values[filter];
  const read = json == null ? { problems: [] } : filterInJson(registry, module, json, `/${filter}`);
  problems.push(...read.problems);
  if (problems.length > 0) return { problems };
  return {
    list: {
      module,
      fields: shown.length > 0 ? [...new Set(shown)] : defaultFields(module),
      ...(read.filter ? { filter: read.filter } : {}),
      orderBy: terms,
    },
  };
}

/** Fields that an import needs to create or change the records again. */
function defaultFields(module: EntityModule): string[] {
  const times = new Set(['createdAt', 'updatedAt', 'recordVersion', 'organizationId']);
  return listedFields(module).filter((name) => !times.has(name));
}

function listOf(values: Values, field: string | undefined): readonly string[] {
  return field === undefined ? [] : ((values[field] ?? []) as readonly string[]);
}

/** The field with this name, as in GraphQL or as in REST. */
function named(known: readonly string[], name: string, path: string, problems: FieldProblem[]): string {
  const field = namedIn(known, name);
  if (field === undefined)
    problems.push({ path, message: `must be one of ${known.join(', ')}; it is ${JSON.stringify(name)}` });
  return field ?? name;
}
