import { generateKeyPairSync, randomUUID } from 'node:crypto';
import { jwtVerify } from 'jose';
import type { Answering, FakeRequest } from '../http-fake.ts';
import { FakeProvider } from './fake-provider.ts';

/** Account at the code host, in its wire format. Ids may be any JSON. */
export interface FakeUser {
  readonly id: unknown;
  readonly login?: string;
  readonly type?: string;
  readonly name?: string | null;
}

export interface FakeTeam {
  readonly id: unknown;
  readonly slug: string;
  readonly name: string;
  readonly description?: string | null;
  readonly privacy?: string;
}

export interface FakeRepository {
  readonly id: unknown;
  readonly full_name: string;
  readonly private: boolean;
  readonly archived?: boolean;
  readonly default_branch?: string;
}

export interface FakeInstallation {
  readonly account: { readonly login: string; readonly id: number; readonly type: 'Organization' | 'User' };
  createdAt: Date;
  updatedAt: Date;
  suspendedAt: Date | null;
  readonly members: FakeUser[];
  readonly teams: FakeTeam[];
  /** Logins in each team, by its slug. */
  readonly teamMembers: Map<string, readonly FakeUser[]>;
  readonly repositories: FakeRepository[];
}

/** An attempt to deliver an event of the app. */
export interface FakeDelivery {
  readonly id: number;
  readonly guid: string;
  readonly delivered_at: string;
  readonly redelivery: boolean;
  readonly duration: number;
  readonly status: string;
  readonly status_code: number;
  readonly event: string;
  readonly action: string | null;
  readonly installation_id: number | null;
  readonly repository_id: number | null;
}

type Collection = 'members' | 'teams' | 'teamMembers' | 'repositories';

const tokenLifetimeMs = 3_600_000;

/** Code host over HTTP: pages of apps, and the interface for apps, whose tokens it checks. It pages, and lies where a test sets it. */
export class FakeCodeHost extends FakeProvider {
  readonly appId = '123456';
  readonly slug = 'core-app';
  readonly privateKey: string;
  readonly installations = new Map<string, FakeInstallation>();
  /** Newest first, as it lists them. */
  readonly deliveries: FakeDelivery[] = [];
  pageSize = 100;
  /** Changes the records of a page: repeats, reorders, spoils them. */
  records: (records: readonly object[], collection: Collection) => readonly unknown[] = (records) => records;
  /** Changes the text of an answer. */
  text: (text: string) => string = (text) => text;
  /** Changes the number of the page that is answered. */
  pageOf: (page: number) => number = (page) => page;
  readonly #publicKey;
  readonly #tokens = new Map<string, { readonly installationId: string; readonly endsAt: number }>();

  private constructor(now: () => Date) {
    super(now);
    const { privateKey, publicKey } = generateKeyPairSync('rsa', { modulusLength: 2_048 });
    // The form in which the code host gives keys.
    this.privateKey = privateKey.export({ type: 'pkcs1', format: 'pem' }).toString();
    this.#publicKey = publicKey;
  }

  static async start(now: () => Date = () => new Date()): Promise<FakeCodeHost> {
    const fake = new FakeCodeHost(now);
    await fake.listen();
    return fake;
  }

  override get urls(): Readonly<Record<string, string>> {
    return { 'https://github.com': this.url, 'https://api.github.com': this.url };
  }

  get settings() {
    return { appid: this.appId, privatekey: this.privateKey, appslug: this.slug, webhooksecret: 'secret of the app' };
  }

  /** An organization that has installed the app. */
  install(id: string, given: Partial<FakeInstallation> = {}): FakeInstallation {
    const installation: FakeInstallation = {
      account: { login: `org-${id}`, id: 1_000_000 + Number(id.slice(-6)), type: 'Organization' },
      createdAt: this.now(),
      updatedAt: this.now(),
      suspendedAt: null,
      members: [],
      teams: [],
      teamMembers: new Map(),
      repositories: [],
      ...given,
    };
    this.installations.set(id, installation);
    return installation;
  }

  /** A token of an installation, as if the app had asked for it. */
  tokenOf(installationId: string): { readonly token: string; readonly expiresAt: Date } {
    const token = this.secret('ghs');
    const expiresAt = new Date(this.now().getTime() + tokenLifetimeMs);
    this.#tokens.set(token, { installationId, endsAt: expiresAt.getTime() });
    return { token, expiresAt };
  }

  endTokens(): void {
    this.#tokens.clear();
  }

  /** Notes an attempt to deliver an event. */
  deliver(given: Partial<FakeDelivery> = {}): FakeDelivery {
    const delivery: FakeDelivery = {
      id: 10_000 + this.deliveries.length,
      guid: randomUUID(),
      delivered_at: this.now().toISOString(),
      redelivery: false,
      duration: 0.2,
      status: 'OK',
      status_code: 200,
      event: 'membership',
      action: 'added',
      installation_id: 1,
      repository_id: null,
      ...given,
    };
    this.deliveries.unshift(delivery);
    return delivery;
  }

  protected override async answer(request: FakeRequest): Promise<Answering> {
    const { path, headers } = request;
    const authorization = headers.authorization ?? '';
    if (path.startsWith('/app')) {
      if (!(await this.#isApp(authorization))) return problem(401, 'A JSON web token could not be decoded');
      return this.#answerApp(request);
    }
    const token = this.#tokens.get(authorization.replace(/^token /, ''));
    const installation = token && this.installations.get(token.installationId);
    if (!token || !installation || token.endsAt <= this.now().getTime()) return problem(401, 'Bad credentials');
    if (installation.suspendedAt) return problem(403, 'This installation has been suspended');
    return this.#answerInstallation(request, installation);
  }

  async #isApp(authorization: string): Promise<boolean> {
    try {
      const { payload } = await jwtVerify(authorization.replace(/^Bearer /, ''), this.#publicKey, {
        algorithms: ['RS256'],
      });
      return payload.iss === this.appId && (payload.exp ?? 0) - (payload.iat ?? 0) <= 600;
    } catch {
      return false;
    }
  }

  #answerApp(request: FakeRequest): Answering {
    const { method, path } = request;
    if (path === '/app/hook/deliveries') return this.#listDeliveries(request);
    const [, deliveryId] = /^\/app\/hook\/deliveries\/(\d+)\/attempts$/.exec(path) ?? [];
    if (deliveryId !== undefined && method === 'POST') return this.#redeliver(Number(deliveryId));
    const [, id = '', rest = ''] = /^\/app\/installations\/(\d+)(\/access_tokens)?$/.exec(path) ?? [];
    const installation = this.installations.get(id);
    if (!installation) return problem(404, 'Not Found');
    if (rest === '/access_tokens' && method === 'POST') {
      if (installation.suspendedAt) return problem(403, 'This installation has been suspended');
      const { token, expiresAt } = this.tokenOf(id);
      const body = { token, expires_at: expiresAt.toISOString(), permissions: { members: 'read' } };
      return { status: 201, body: { ...body, repository_selection: 'all' } };
    }
    if (method === 'DELETE') {
      this.installations.delete(id);
      return { status: 204, body: null, text: '' };
    }
    const { account, createdAt, updatedAt, suspendedAt } = installation;
    const text = `{"id":${id},"account":${JSON.stringify(account)},"app_slug":"${this.slug}","created_at":"${createdAt.toISOString()}","updated_at":"${updatedAt.toISOString()}","suspended_at":${JSON.stringify(suspendedAt)}}`;
    return { status: 200, body: null, text: this.text(text) };
  }

  #answerInstallation(request: FakeRequest, installation: FakeInstallation): Answering {
    const { path } = request;
    const { account, members, teams, teamMembers, repositories } = installation;
    if (path === '/installation/repositories') return this.#page(request, 'repositories', repositories);
    const org = `/orgs/${account.login}`;
    if (account.type !== 'Organization' || !path.startsWith(`${org}/`)) return problem(404, 'Not Found');
    if (path === `${org}/members`) return this.#page(request, 'members', members);
    if (path === `${org}/teams`) return this.#page(request, 'teams', teams);
    const [, slug = ''] = /\/teams\/([^/]+)\/members$/.exec(path) ?? [];
    if (!teams.some((team) => team.slug === slug)) return problem(404, 'Not Found');
    return this.#page(request, 'teamMembers', teamMembers.get(slug) ?? []);
  }

  #page({ path, query }: FakeRequest, collection: Collection, all: readonly object[]): Answering {
    const size = Math.min(this.pageSize, Number(query.get('per_page') ?? 30));
    const asked = Number(query.get('page') ?? 1);
    const page = this.pageOf(asked);
    const records = this.records(all.slice((page - 1) * size, page * size), collection);
    const next = `<${this.url}${path}?page=${asked + 1}>; rel="next", <${this.url}${path}?page=9>; rel="last"`;
    const body = collection === 'repositories' ? { total_count: all.length, repositories: records } : records;
    return {
      status: 200,
      body: null,
      text: this.text(JSON.stringify(body)),
      headers: page * size < all.length ? { link: next } : {},
    };
  }

  #listDeliveries({ path, query }: FakeRequest): Answering {
    const size = Math.min(this.pageSize, Number(query.get('per_page') ?? 30));
    const start = Number((query.get('cursor') ?? 'v1_0').replace('v1_', ''));
    const next = `<${this.url}${path}?per_page=${size}&cursor=v1_${start + size}>; rel="next"`;
    return {
      status: 200,
      body: null,
      text: this.text(JSON.stringify(this.deliveries.slice(start, start + size))),
      headers: start + size < this.deliveries.length ? { link: next } : {},
    };
  }

  #redeliver(id: number): Answering {
    const delivery = this.deliveries.find((one) => one.id === id);
    if (!delivery) return problem(404, 'Not Found');
    this.redelivered.push(delivery.guid);
    const { guid, event, action, installation_id } = delivery;
    this.deliver({ guid, event, action, installation_id, redelivery: true, ...this.redelivers(delivery) });
    return { status: 202, body: {} };
  }

  /** Ids of the events that it was asked to deliver again. */
  readonly redelivered: string[] = [];

  /** Outcome of a repeated delivery. */
  redelivers: (delivery: FakeDelivery) => Partial<FakeDelivery> = () => ({});
}

/** Variables of a server whose app is the one of the fake. */
export function codeHostEnvironment({ settings }: FakeCodeHost): Record<string, string> {
  return Object.fromEntries(
    Object.entries(settings).map(([name, value]) => [`CORE_INTEGRATIONS_CODEHOSTAPP_${name.toUpperCase()}`, value]),
  );
}

function problem(status: number, message: string): Answering {
  const documentation_url = 'https://docs.github.com/rest';
  return { status, body: { message: `message of ${message}`, documentation_url, status: String(status) } };
}
