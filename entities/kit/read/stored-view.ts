import type { FieldProblem } from '../base/errors.ts';
import type { EntityModule } from '../model/define.ts';
import { answeredFields, isExposed } from '../model/exposure.ts';
import type { ViewFields } from '../model/record-rules.ts';
import type { Registry } from '../model/registry.ts';
import type { Filter } from './filter.ts';
import type { OrderTerm } from './order.ts';
import { readFilter } from './stored-filter.ts';
import { orderableFields } from './where.ts';

type Row = Readonly<Record<string, unknown>>;

/** How a list is read. */
export interface StoredView {
  readonly module: EntityModule;
  readonly filter?: Filter;
  readonly orderBy: readonly OrderTerm[];
}

/** The view in the values of a record (`storesView`), or what is wrong with it. */
export function readView(
  registry: Registry,
  { kind, filter, orderBy, columns }: ViewFields,
  row: Row,
): { readonly view?: StoredView; readonly problems: readonly FieldProblem[] } {
  const module = registry.modules.find(({ topic }) => topic === row[kind]);
  if (!module || !isExposed(module))
    return { problems: [{ path: `/${kind}`, message: 'is not a kind of records that are listed' }] };
  const terms = texts(row[orderBy]).map(termOf);
  const orderable = orderableFields(module);
  const shown = answeredFields(module);
  const read = row[filter] == null ? undefined : readFilter(registry, module, row[filter], `/${filter}`);
  const problems = [
    ...terms.flatMap(({ field }, index) =>
      orderable.includes(field)
        ? []
        : [
            {
              path: `/${orderBy}/${index}`,
              message: `must be one of ${orderable.join(', ')}, with or without a minus`,
            },
          ],
    ),
    ...texts(row[columns]).flatMap((name, index) =>
      shown.includes(name) ? [] : [{ path: `/${columns}/${index}`, message: `must be one of ${shown.join(', ')}` }],
    ),
    ...(read && 'problems' in read ? read.problems : []),
  ];
  if (problems.length > 0) return { problems };
  return { view: { module, ...(read && 'filter' in read ? { filter: read.filter } : {}), orderBy: terms }, problems };
}

function texts(value: unknown): readonly string[] {
  return (value ?? []) as readonly string[];
}

function termOf(text: string): OrderTerm {
  return text.startsWith('-') ? { field: text.slice(1), direction: 'desc' } : { field: text, direction: 'asc' };
}
