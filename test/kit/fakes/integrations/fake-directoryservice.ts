import type { DirectoryRole, Group, Organization, User } from '@microsoft/microsoft-graph-types';
import type { Answering, FakeRequest } from '../http-fake.ts';
import { FakeGraph, graphError, type TokenOwner } from './fake-graph.ts';

export interface FakeTenant {
  readonly name: string;
  readonly users: User[];
  readonly groups: Group[];
  /** Ids of the users and groups in each group. */
  readonly members: Map<string, readonly string[]>;
  /** Ids of the role templates of each user. */
  readonly roles: Map<string, readonly string[]>;
}

export const globalAdministrator = '62e90394-69f5-4237-9190-012177145e10';

/** A collection of the graph: users, groups, or the members of a group. */
type Collection = 'users' | 'groups' | 'members';

/** Directory service with tenants, over HTTP: sign-in server and graph. It pages, and lies where a test sets it. */
export class FakeDirectoryService extends FakeGraph {
  readonly tenants = new Map<string, FakeTenant>();
  pageSize = 100;
  /** Changes the records of a page: repeats, reorders, spoils them. */
  records: (records: readonly object[], collection: Collection) => readonly unknown[] = (records) => records;
  /** Changes the link to a next page. */
  nextLink: (link: string | undefined, collection: Collection) => unknown = (link) => link;
  /** Positions given before are not valid any more, which it says with this status. */
  #expired: { readonly generation: number; readonly status: 400 | 410 } = { generation: 0, status: 410 };

  static async start(now: () => Date = () => new Date()): Promise<FakeDirectoryService> {
    const fake = new FakeDirectoryService(now);
    await fake.listen();
    return fake;
  }

  /** A tenant with users of these ids. The first one is its administrator. */
  addTenant(id: string, tenant: Partial<FakeTenant> = {}): FakeTenant {
    const { users = [], roles = new Map([[users[0]?.id ?? '', [globalAdministrator]]]) } = tenant;
    const added = { name: `Tenant ${id}`, users, groups: [], members: new Map(), ...tenant, roles };
    this.tenants.set(id, added);
    return added;
  }

  expirePositions(status: 400 | 410 = 410): void {
    this.#expired = { generation: this.#expired.generation + 1, status };
  }

  protected answerOfGraph(path: string, request: FakeRequest, { tenantId }: TokenOwner): Answering {
    const tenant = this.tenants.get(tenantId);
    if (!tenant) return graphError(404, 'Directory_ObjectNotFound');
    if (path === '/organization') {
      const organization: Organization = { id: tenantId, displayName: tenant.name };
      return { status: 200, body: { value: [organization] } };
    }
    if (path === '/users') return this.#page(request, 'users', tenant.users);
    if (path === '/groups') return this.#page(request, 'groups', tenant.groups);
    const [, userId] = /^\/users\/([^/]+)\/transitiveMemberOf\/microsoft\.graph\.directoryRole$/.exec(path) ?? [];
    if (userId !== undefined)
      return isAdvanced(request) ? rolesOf(tenant, userId) : graphError(400, 'Request_UnsupportedQuery');
    const [, groupId] = /^\/groups\/([^/]+)\/transitiveMembers\/microsoft\.graph\.user$/.exec(path) ?? [];
    if (groupId === undefined) return graphError(400, 'BadRequest');
    if (!tenant.groups.some(({ id }) => id === groupId)) return graphError(404, 'Request_ResourceNotFound');
    if (!isAdvanced(request)) return graphError(400, 'Request_UnsupportedQuery');
    return this.#page(request, 'members', transitiveMembers(tenant, groupId));
  }

  #page({ path, query }: FakeRequest, collection: Collection, all: readonly User[] | readonly Group[]): Answering {
    const { generation, status } = this.#expired;
    const [start = 0, givenIn = generation] = (query.get('$skiptoken') ?? '').split('.').filter(Boolean).map(Number);
    if (givenIn !== generation)
      return graphError(status, status === 410 ? 'resyncRequired' : 'Directory_ExpiredPageToken');
    const size = Math.min(this.pageSize, Number(query.get('$top') ?? 100));
    const fields = query.get('$select')?.split(',') ?? [];
    const records = all.slice(start, start + size).map((record) => selected(record, fields));
    const later = new URLSearchParams(query);
    later.set('$skiptoken', `${start + size}.${generation}`);
    const next = start + size < all.length ? `${this.url}${path}?${later.toString()}` : undefined;
    const link = this.nextLink(next, collection);
    return {
      status: 200,
      body: {
        '@odata.context': `${this.url}/v1.0/$metadata#${collection}`,
        ...(link === undefined ? {} : { '@odata.nextLink': link }),
        value: this.records(records, collection),
      },
    };
  }
}

/** Casts of collections are advanced queries: they need a header and the count. */
function isAdvanced({ headers, query }: FakeRequest): boolean {
  return headers['consistencylevel'] === 'eventual' && query.get('$count') === 'true';
}

function rolesOf({ roles }: FakeTenant, userId: string): Answering {
  const held: DirectoryRole[] = (roles.get(userId) ?? []).map((roleTemplateId) => ({
    id: `role-${roleTemplateId}`,
    roleTemplateId,
  }));
  return { status: 200, body: { value: held } };
}

/** Users in a group and in the groups in it, each once, also when groups contain each other. */
function transitiveMembers({ users, members }: FakeTenant, groupId: string): User[] {
  const seen = new Set<string>();
  const walk = (id: string): void => {
    if (seen.has(id)) return;
    seen.add(id);
    for (const member of members.get(id) ?? []) walk(member);
  };
  walk(groupId);
  return users.filter(({ id }) => id !== undefined && seen.has(id));
}

function selected(record: object, fields: readonly string[]): object {
  const values = record as Readonly<Record<string, unknown>>;
  return Object.fromEntries(fields.map((field) => [field, values[field] ?? null]));
}
