import { isDeepStrictEqual } from 'node:util';
import { scimSchemas } from './scim-client.ts';

export type ScimDocument = Readonly<Record<string, unknown>>;

/** A refusal, as the status and the sort of error of the answer. */
export class Refusal {
  readonly status: number;
  readonly scimType: string | undefined;

  constructor(status: number, scimType?: string) {
    this.status = status;
    this.scimType = scimType;
  }
}

interface Kept {
  /** As the last answer named it. */
  etag: string;
}

export interface ModelUser extends Kept {
  readonly id: string;
  document: ScimDocument;
}

export interface ModelGroup extends Kept {
  readonly id: string;
  document: ScimDocument;
  members: ReadonlySet<string>;
}

/** Users and groups of a directory as they should be, without a database. */
export class ScimModel {
  readonly users = new Map<string, ModelUser>();
  readonly groups = new Map<string, ModelGroup>();

  /** @throws Refusal when another user has the name, in whatever case */
  refuseTaken({ userName }: ScimDocument, own?: string): void {
    for (const { id, document } of this.users.values())
      if (id !== own && lower(document['userName']) === lower(userName)) throw new Refusal(409, 'uniqueness');
  }

  /** @throws Refusal for members that are no users */
  membersIn(ids: readonly string[]): ReadonlySet<string> {
    if (ids.some((id) => !this.users.has(id))) throw new Refusal(400);
    return new Set(ids);
  }

  removeUser(id: string): void {
    this.users.delete(id);
    for (const group of this.groups.values()) group.members = new Set([...group.members].filter((one) => one !== id));
  }

  /** A user as it is answered, without `meta`. */
  shownUser({ id, document }: ModelUser): ScimDocument {
    const own = [...this.groups.values()].filter(({ members }) => members.has(id));
    const groups = own.map((group) => ({ value: group.id, display: group.document['displayName'], type: 'direct' }));
    return {
      schemas: [scimSchemas.user, ...(document[scimSchemas.enterprise] ? [scimSchemas.enterprise] : [])],
      id,
      ...document,
      ...(groups.length > 0 ? { groups: byValue(groups) } : {}),
    };
  }

  /** A group as it is answered, without `meta`. */
  shownGroup({ id, document, members }: ModelGroup): ScimDocument {
    const shown = [...members].map((value) => ({ value, type: 'User' }));
    return {
      schemas: [scimSchemas.group],
      id,
      ...document,
      ...(shown.length > 0 ? { members: byValue(shown) } : {}),
    };
  }
}

export function lower(value: unknown): string {
  return String(value).toLowerCase();
}

/** An answered document, as the model has it: without `meta` and addresses, with lists of references in order. */
export function compared({ meta: _meta, ...document }: ScimDocument): ScimDocument {
  const ordered = (['groups', 'members'] as const).filter((name) => Array.isArray(document[name]));
  return Object.fromEntries(
    Object.entries(document).map(([name, value]) => [
      name,
      ordered.some((one) => one === name) ? byValue((value as ScimDocument[]).map(withoutAddress)) : value,
    ]),
  );
}

function withoutAddress({ $ref: _address, ...reference }: ScimDocument): ScimDocument {
  return reference;
}

function byValue(references: readonly ScimDocument[]): readonly ScimDocument[] {
  return references.toSorted((one, other) => (String(one['value']) < String(other['value']) ? -1 : 1));
}

export function isSame(one: ScimDocument, other: ScimDocument): boolean {
  return isDeepStrictEqual(one, other);
}
