import { shareKindOf } from '../../kit/model/derived/share.ts';
import type { EntityModule } from '../../kit/model/define.ts';
import type { Registry } from '../../kit/model/registry.ts';
import type { DataClient } from '../../kit/unit/data-client.ts';
import { tag } from '../../work/tag.ts';
import type { DefinitionDocument, Selector, Trigger } from '../document/definition-document.ts';
import { triggersOf, type TriggeringChange } from '../document/publication.ts';

/** A record, as selectors look at it. */
export interface SelectedRecord {
  readonly module: EntityModule;
  readonly id: string;
  /** Values by the names of the fields. */
  readonly values: Readonly<Record<string, unknown>>;
}

/** Whether a selector matches a record: for one change, facts are read once for all selectors. */
export class SelectorFacts {
  readonly #data: DataClient;
  readonly #registry: Registry;
  readonly #record: SelectedRecord;
  readonly #known = new Map<string, Promise<ReadonlySet<string>>>();

  /** @param data with the rights of the server */
  constructor(data: DataClient, registry: Registry, record: SelectedRecord) {
    this.#data = data;
    this.#registry = registry;
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
    const shares = this.#registry.modules.find(({ kind }) => kind === shareKindOf(module));
    if (!shares) return false;
    const groups = await this.#once('groups', async () => {
      const where = { [`${module.kind}Id`]: { eq: id } };
      const found: Readonly<Record<string, unknown>>[] = await this.#data.find(shares, { where, limit: 1_000 });
      return found.map(({ groupId }) => String(groupId));
    });
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
