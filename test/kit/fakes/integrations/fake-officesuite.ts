import type { admin_directory_v1 as directory } from '@googleapis/admin';
import { calculatePKCECodeChallenge } from 'openid-client';
import type { Answering, FakeRequest } from '../http-fake.ts';
import { FakeProvider } from './fake-provider.ts';

type User = directory.Schema$User;
type Group = directory.Schema$Group;
type Member = directory.Schema$Member;

export interface FakeCustomer {
  readonly domain: string;
  readonly users: User[];
  readonly groups: Group[];
  /** Members of each group, by its id; those of the type GROUP are groups in it. */
  readonly members: Map<string, readonly Member[]>;
}

/** A collection of the directory: users, groups, or the members of a group. */
type Collection = 'users' | 'groups' | 'members';

interface Administrator {
  readonly customerId: string;
  readonly isAdministrator: boolean;
}

const tokenLifetimeS = 3_600;

/** Office suite over HTTP: sign-in server and directory. It pages, and lies where a test sets it. */
export class FakeOfficeSuite extends FakeProvider {
  readonly client = { id: 'id-of-the-app.apps.example', secret: 'secret-of-the-app' };
  readonly customers = new Map<string, FakeCustomer>();
  pageSize = 500;
  /** Changes the records of a page: repeats, reorders, spoils them. */
  records: (records: readonly object[], collection: Collection) => readonly unknown[] = (records) => records;
  /** Changes the position of the next page. */
  nextToken: (token: string | undefined, collection: Collection) => unknown = (token) => token;
  /** Scopes that people tick; all that are asked for, unless a test sets them. */
  grantedScopes: readonly string[] | undefined;
  /** Whether a refreshed token comes with a new refresh token, which replaces the one before. */
  rotates = false;
  #generation = 0;
  readonly #codes = new Map<string, Administrator & { readonly challenge: string | null; readonly offline: boolean }>();
  readonly #tokens = new Map<string, Administrator & { readonly endsAt: number }>();
  readonly #refreshTokens = new Map<string, Administrator>();

  static async start(now: () => Date = () => new Date()): Promise<FakeOfficeSuite> {
    const fake = new FakeOfficeSuite(now);
    await fake.listen();
    return fake;
  }

  override get urls(): Readonly<Record<string, string>> {
    return {
      'https://accounts.google.com': this.url,
      'https://oauth2.googleapis.com': this.url,
      'https://admin.googleapis.com': this.url,
    };
  }

  addCustomer(id: string, given: Partial<FakeCustomer> = {}): FakeCustomer {
    const customer = { domain: `${id.toLowerCase()}.example`, users: [], groups: [], members: new Map(), ...given };
    this.customers.set(id, customer);
    return customer;
  }

  /** The URL to which a person is sent back who signs in. @param location of the request */
  approve(location: string, customerId: string, { isAdministrator = true } = {}): URL {
    const { searchParams: asked } = new URL(location);
    const code = this.secret('code');
    this.#codes.set(code, {
      customerId,
      isAdministrator,
      challenge: asked.get('code_challenge_method') === 'S256' ? asked.get('code_challenge') : null,
      offline: asked.get('access_type') === 'offline' && asked.get('prompt') === 'consent',
    });
    const url = new URL(asked.get('redirect_uri') ?? '');
    const scope = this.grantedScopes?.join(' ') ?? asked.get('scope') ?? '';
    url.search = new URLSearchParams({ code, state: asked.get('state') ?? '', scope }).toString();
    return url;
  }

  tokenOf(administrator: Administrator): string {
    const token = this.secret('ya29');
    this.#tokens.set(token, { ...administrator, endsAt: this.now().getTime() + tokenLifetimeS * 1_000 });
    return token;
  }

  endTokens(): void {
    this.#tokens.clear();
  }

  endRefreshTokens(): void {
    this.#refreshTokens.clear();
  }

  /** Positions given before are not valid any more. */
  expirePositions(): void {
    this.#generation++;
  }

  protected override async answer(request: FakeRequest): Promise<Answering> {
    const { method, path, headers, body } = request;
    if (path === '/token' && method === 'POST') return this.#token(new URLSearchParams(body));
    if (path === '/revoke' && method === 'POST') {
      const isKnown = this.#refreshTokens.delete(new URLSearchParams(body).get('token') ?? '');
      return { status: isKnown ? 200 : 400, body: isKnown ? {} : { error: 'invalid_token' } };
    }
    const owner = this.#tokens.get((headers.authorization ?? '').replace(/^Bearer /, ''));
    if (!owner || owner.endsAt <= this.now().getTime()) return directoryError(401, 'authError');
    const customer = this.customers.get(owner.customerId);
    if (!customer || !owner.isAdministrator) return directoryError(403, 'forbidden');
    const [, resource = ''] = /^\/admin\/directory\/v1\/(.+)$/.exec(path) ?? [];
    return this.#directory(resource, request, owner.customerId, customer);
  }

  #directory(resource: string, request: FakeRequest, customerId: string, customer: FakeCustomer): Answering {
    if (resource === 'customers/my_customer') {
      const found: directory.Schema$Customer = { id: customerId, customerDomain: customer.domain };
      return { status: 200, body: found };
    }
    const [, groupId] = /^groups\/([^/]+)\/members$/.exec(resource) ?? [];
    if (groupId !== undefined) {
      if (!customer.groups.some(({ id }) => id === groupId)) return directoryError(404, 'notFound');
      const isDerived = request.query.get('includeDerivedMembership') === 'true';
      const members = customer.members.get(groupId) ?? [];
      return this.#page(request, 'members', isDerived ? derivedMembers(customer, groupId) : members);
    }
    const asked = request.query.get('customer');
    if (asked !== customerId && asked !== 'my_customer') return directoryError(400, 'invalid');
    if (resource === 'users') return this.#page(request, 'users', customer.users);
    if (resource === 'groups') return this.#page(request, 'groups', customer.groups);
    return directoryError(404, 'notFound');
  }

  #page({ query }: FakeRequest, collection: Collection, all: readonly object[]): Answering {
    const [start = 0, generation = this.#generation] = (query.get('pageToken') ?? '')
      .split('.')
      .filter(Boolean)
      .map(Number);
    if (generation !== this.#generation) return directoryError(400, 'invalid');
    const size = Math.min(this.pageSize, Number(query.get('maxResults') ?? 100));
    const next = start + size < all.length ? `${start + size}.${this.#generation}` : undefined;
    const records = this.records(all.slice(start, start + size), collection);
    const token = this.nextToken(next, collection);
    return {
      status: 200,
      body: {
        kind: `admin#directory#${collection}`,
        ...(records.length > 0 ? { [collection]: records } : {}),
        ...(token === undefined ? {} : { nextPageToken: token }),
      },
    };
  }

  async #token(form: URLSearchParams): Promise<Answering> {
    if (form.get('client_id') !== this.client.id || form.get('client_secret') !== this.client.secret)
      return { status: 401, body: { error: 'invalid_client', error_description: 'message of invalid_client' } };
    if (form.get('grant_type') === 'refresh_token') {
      const used = form.get('refresh_token') ?? '';
      const owner = this.#refreshTokens.get(used);
      if (!owner) return { status: 400, body: { error: 'invalid_grant', error_description: 'message of it' } };
      if (this.rotates) this.#refreshTokens.delete(used);
      return this.#issued(owner, this.rotates);
    }
    const code = form.get('code') ?? '';
    const issued = this.#codes.get(code);
    this.#codes.delete(code);
    const challenge = await calculatePKCECodeChallenge(form.get('code_verifier') ?? '');
    if (!issued || issued.challenge !== challenge)
      return { status: 400, body: { error: 'invalid_grant', error_description: 'message of it' } };
    const { customerId, isAdministrator, offline } = issued;
    return this.#issued({ customerId, isAdministrator }, offline);
  }

  #issued(owner: Administrator, withRefreshToken: boolean): Answering {
    const refreshToken = this.secret('1//');
    if (withRefreshToken) this.#refreshTokens.set(refreshToken, owner);
    const body = { token_type: 'Bearer', expires_in: tokenLifetimeS, access_token: this.tokenOf(owner) };
    return { status: 200, body: { ...body, ...(withRefreshToken ? { refresh_token: refreshToken } : {}) } };
  }
}

/** Members of a group and of the groups in it, each once, also when groups contain each other. */
function derivedMembers({ members }: FakeCustomer, groupId: string): Member[] {
  const found = new Map<string, Member>();
  const seen = new Set<string>();
  const walk = (id: string): void => {
    if (seen.has(id)) return;
    seen.add(id);
    for (const member of members.get(id) ?? []) {
      found.set(member.id ?? '', member);
      if (member.type === 'GROUP') walk(member.id ?? '');
    }
  };
  walk(groupId);
  return [...found.values()];
}

function directoryError(code: number, reason: string): Answering {
  const message = `message of ${reason}`;
  return { status: code, body: { error: { code, message, errors: [{ domain: 'global', reason, message }] } } };
}
