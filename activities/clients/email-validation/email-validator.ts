import type { Resolver } from 'node:dns/promises';
import ipaddr from 'ipaddr.js';
import type { Logger } from 'pino';
import type { Config } from '#config/objects/root.ts';
import type { Clock } from '#entities/kit/base/clock.ts';
import { parseDomain, type EmailAddress } from '#entities/kit/base/email-address.ts';
import { resolverOf, type NameServers } from '#entities/kit/base/name-servers.ts';
import { isListed, isRole, publicAddress } from './address-classes.ts';
import { askMailServer } from './ask-mail-server.ts';
import { hasAvatarProfile } from './avatar-profile.ts';
import { isFree } from './bundled-domains.ts';
import { DisposableDomains } from './disposable-domains.ts';
import { addressesOf, mailServersOf } from './mail-servers.ts';

/** Result of a validation. `unknown`: nothing that speaks against the address; others are asked only if the configuration says so. */
type EmailOutcome =
  | 'valid'
  | 'unknown'
  | 'syntax'
  | 'blocked'
  | 'disposable'
  | 'free'
  | 'role'
  | 'no_mail_server'
  | 'no_mailbox';

/** Where the answers of others come from. */
export interface EmailNetwork extends NameServers {
  readonly smtpPort: number;
  /** Mail servers that may be asked. */
  readonly isAllowed: (address: string) => boolean;
  readonly avatarUrl: string;
  readonly disposableListUrl: string;
}

const internet: EmailNetwork = {
  smtpPort: 25,
  // A person who signs up names the server that is asked, so it must not be one of our own network.
  isAllowed: (address) => ipaddr.process(address).range() === 'unicast',
  avatarUrl: 'https://www.gravatar.com/avatar',
  disposableListUrl:
    'https://raw.githubusercontent.com/disposable-email-domains/disposable-email-domains/main/disposable_email_blocklist.conf',
  limitMs: 5_000,
};

/** Addresses of one validation that are connected to: the preferred servers of a domain. */
const maxServers = 2;

/** Maximum number of validations that ask others at a time; further ones do not. */
const maxQuestions = 64;

type Settings = Config['ormconfig']['emailvalidation'];

interface Options {
  readonly config: () => Config;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly network?: Partial<EmailNetwork>;
  readonly onOutcome: (outcome: EmailOutcome) => void;
}

/**
 * Judges e-mail addresses as `ormconfig.emailvalidation` says. Checks that others do not answer, or not in time, leave the address valid:
 * an outage elsewhere must not keep people from signing up.
 */
export class EmailValidator {
  readonly #options: Options;
  readonly #network: EmailNetwork;
  readonly #disposable: DisposableDomains;
  #questions = 0;

  constructor(options: Options) {
    this.#options = options;
    this.#network = { ...internet, ...options.network };
    this.#disposable = new DisposableDomains({
      listUrl: this.#network.disposableListUrl,
      clock: options.clock,
      onFailure: (error) =>
        options.logger.warn(
          { err: error },
          'the list of disposable e-mail domains was not updated; the last one stays in use',
        ),
    });
  }

  /** Problem of an address and its remedy, as the end of a sentence; undefined if nothing is. */
  async problemOf(email: string): Promise<string | undefined> {
    const settings = this.#options.config().ormconfig.emailvalidation;
    const parts = publicAddress(email);
    const outcome = parts ? await this.#outcomeOf(parts, settings) : withoutParts(settings);
    this.#options.onOutcome(outcome);
    return problemText(outcome, parts?.domain ?? '');
  }

  async #outcomeOf(parts: EmailAddress, settings: Settings): Promise<EmailOutcome> {
    const { domain, local } = parts;
    const { enabled, blockeddomains, allowedemailtypes, enableautoupdatedisposable } = settings;
    if (isListed(new Set(blockeddomains.flatMap((one) => parseDomain(one) ?? [])), domain)) return 'blocked';
    if (!enabled) return 'unknown';
    // In the background: nobody waits for the list.
    if (!allowedemailtypes.disposable && enableautoupdatedisposable) void this.#disposable.updateWhenDue();
    // A class of its own, with a setting of its own, even where the service is also a free one.
    const isDisposable = await this.#disposable.has(domain);
    if (isDisposable && !allowedemailtypes.disposable) return 'disposable';
    if (!isDisposable && !allowedemailtypes.free && (await isFree(domain))) return 'free';
    if (!allowedemailtypes.role && isRole(local)) return 'role';
    return this.#askOthers(parts, settings);
  }

  async #askOthers(parts: EmailAddress, settings: Settings): Promise<EmailOutcome> {
    const { logger } = this.#options;
    if (this.#questions >= maxQuestions) {
      logger.warn(
        `${maxQuestions} e-mail addresses are being checked; another one is accepted without asking its mail server`,
      );
      return 'unknown';
    }
    this.#questions++;
    try {
      return await this.#delivery(parts, settings, AbortSignal.timeout(this.#network.limitMs));
    } catch (error) {
      // The domain alone: addresses of people stay out of logs.
      logger.warn(
        { err: error, domain: parts.domain },
        'an e-mail address is accepted without an answer about its mail server',
      );
      return 'unknown';
    } finally {
      this.#questions--;
    }
  }

  /** @throws the error of whoever gives no answer */
  async #delivery(parts: EmailAddress, settings: Settings, signal: AbortSignal): Promise<EmailOutcome> {
    const resolver = resolverOf(this.#network, signal);
    const servers = await mailServersOf(resolver, parts.domain);
    if (servers.length === 0) return 'no_mail_server';
    if (!settings.enablesmtpcheck) return 'unknown';
    if (settings.enablegravatarcheck && (await this.#hasProfile(parts, signal))) return 'valid';
    return this.#askServers(resolver, servers, parts, signal);
  }

  /** A person with a profile uses the address, and its mail server need not be asked. */
  async #hasProfile({ local, domain }: EmailAddress, signal: AbortSignal): Promise<boolean> {
    try {
      return await hasAvatarProfile(this.#network.avatarUrl, `${local}@${domain}`, signal);
    } catch (error) {
      this.#options.logger.warn({ err: error }, 'the avatar service gives no answer');
      return false;
    }
  }

  async #askServers(
    resolver: Resolver,
    servers: readonly string[],
    { local, domain }: EmailAddress,
    signal: AbortSignal,
  ): Promise<EmailOutcome> {
    const { smtpPort, isAllowed } = this.#network;
    const [, ownName = 'localhost'] = /@([^\s>]+)/.exec(this.#options.config().integrations.email.fromemail) ?? [];
    for (const server of servers.slice(0, maxServers)) {
      const address = (await addressesOf(resolver, server)).find(isAllowed);
      if (address === undefined) continue;
      const state = await askMailServer({
        address,
        port: smtpPort,
        ownName,
        email: `${local}@${domain}`,
        postmaster: `postmaster@${domain}`,
        signal,
      });
      if (state === 'exists') return 'valid';
      if (state === 'missing') return 'no_mailbox';
    }
    return 'unknown';
  }
}

/** Unusual forms of an address must not lead past the blocked domains. */
function withoutParts({ enabled, blockeddomains }: Settings): EmailOutcome {
  return enabled || blockeddomains.length > 0 ? 'syntax' : 'unknown';
}

function problemText(outcome: EmailOutcome, domain: string): string | undefined {
  switch (outcome) {
    case 'valid':
    case 'unknown':
      return undefined;
    case 'syntax':
      return 'is not an address such as name@example.com; correct it';
    case 'blocked':
      return `is at ${domain}, whose addresses are not accepted here; use another address`;
    case 'disposable':
      return `is at ${domain}, a service for disposable addresses; use an address that you keep`;
    case 'free':
      return `is at ${domain}, a free e-mail service; use the address that your organization gave you`;
    case 'role':
      return 'is the address of a function, which several people may read; use an address of your own';
    case 'no_mail_server':
      return `is at ${domain}, which receives no e-mail; check its spelling`;
    case 'no_mailbox':
      return `does not exist, as the mail server of ${domain} says; check its spelling`;
    default:
      outcome satisfies never;
      throw new Error(`unknown outcome ${String(outcome)}`);
  }
}
