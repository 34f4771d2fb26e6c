import type { EntityModule } from '../../kit/model/define.ts';
import type { DataClient } from '../../kit/unit/data-client.ts';
import { tag } from '../../work/tag.ts';
import type { DefinitionDocument, Selector, Trigger } from '../document/definition-document.ts';
import { triggersOf, type TriggeringChange } from '../document/publication.ts';
import { groupsOfRecord } from '../shared-group-rows.ts';

/** The unit of work, as far as facts are read in it. */
type Reading = Parameters<typeof groupsOfRecord>[0];

/** A record, as selectors look at it. */
export interface SelectedRecord {
  readonly module: EntityModule;
  readonly id: string;
  /** Values by the names of the fields. */
  readonly values: Readonly<Record<string, unknown>>;
}

/** Whether a selector matches a record: for one change, facts are read once for all selectors. */
export class SelectorFacts {
  readonly #work: Reading;
  readonly #data: DataClient;
  readonly #record: SelectedRecord;
  readonly #known = new Map<string, Promise<ReadonlySet<string>>>();

  /** @param data with the rights of the server */
  constructor(work: Reading, data: DataClient, record: SelectedRecord) {
    this.#work = work;
    this.#data = data;
    this.#record = record;
  }

  async match(selector: Selector | undefined): Promise<boolean> {
    const { objectTypes = [], tagIds = [], groupIds = [] } = selector ?? {};
    return this.#isOfType(objectTypes) && (await this.#hasTag(tagIds)) && (await this.#isSharedWith(groupIds));
  }

  #isOfType(types: readonly string[]): boolean {
    const { kind, typeName } = this.#record.module;
    return types.length === 0 || types.some((name) => name === typeName || name === kind);
  }

  async #hasTag(ids: readonly string[]): Promise<boolean> {
    if (ids.length === 0) return true;
    const { tags } = this.#record.values;
    const held = new Set(Array.isArray(tags) ? tags : []);
    const names = await this.#once(`tags ${ids.join()}`, async () => {
      const found = await this.#data.find(tag, { where: { id: { in: [...ids] } }, limit: ids.length });
      return found.map(({ name }) => name);
    });
    return [...names].some((name) => held.has(name));
  }

  async #isSharedWith(ids: readonly string[]): Promise<boolean> {
    if (ids.length === 0) return true;
    const { module, id } = this.#record;
    const groups = await this.#once('groups', () => groupsOfRecord(this.#work, module, id));
    return ids.some((group) => groups.has(group));
  }

  #once(key: string, read: () => Promise<readonly string[]>): Promise<ReadonlySet<string>> {
    const known = this.#known.get(key) ?? read().then((found) => new Set(found));
    this.#known.set(key, known);
    return known;
  }
}

/** The triggers that fit a change by operation, fields, links and selectors; none if the document selects other records. */
export async function selectedTriggers(
  document: DefinitionDocument,
  change: TriggeringChange,
  facts: SelectorFacts,
): Promise<Trigger[]> {
  const selected: Trigger[] = [];
  for (const trigger of triggersOf(document, change)) if (await facts.match(trigger.selector)) selected.push(trigger);
  return selected.length > 0 && (await facts.match(document.targets)) ? selected : [];
}
