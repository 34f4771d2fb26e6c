import type { Clock } from '#entities/kit/base/clock.ts';
import { parseDomain } from '#entities/kit/base/email-address.ts';
import { isListed } from './address-classes.ts';
import { disposableDomains, largeServices } from './bundled-domains.ts';

/** Interval between two updates of the list, and after one that failed, in milliseconds. */
const intervalMs = 86_400_000;
const retryMs = 3_600_000;

/** Bounds of a list that can be right: the list has some thousand domains. */
const minDomains = 1_000;
const maxBytes = 8 * 1_048_576;

const timeoutMs = 30_000;

interface Options {
  readonly listUrl: string;
  readonly clock: Clock;
  readonly onFailure: (error: unknown) => void;
}

/** Domains of services that give addresses for some minutes. The list comes with the product, and is updated in the background. */
export class DisposableDomains {
  readonly #options: Options;
  #domains: ReadonlySet<string> | undefined;
  #dueAt = 0;

  constructor(options: Options) {
    this.#options = options;
  }

  async has(domain: string): Promise<boolean> {
    this.#domains ??= await disposableDomains();
    return isListed(this.#domains, domain);
  }

  /** Updates the list if a day has passed. It never fails: the last list stays in use. */
  async updateWhenDue(): Promise<void> {
    const { listUrl, clock, onFailure } = this.#options;
    const now = clock.now().getTime();
    if (now < this.#dueAt) return;
    this.#dueAt = now + intervalMs;
    try {
      this.#domains = await fetchDomains(listUrl);
    } catch (error) {
      this.#dueAt = now + retryMs;
      onFailure(error);
    }
  }
}

/** One domain in each line. @throws Error for what cannot be such a list */
async function fetchDomains(url: string): Promise<ReadonlySet<string>> {
  const response = await fetch(url, { redirect: 'error', signal: AbortSignal.timeout(timeoutMs) });
  if (!response.ok || !response.body) throw new Error(`${url} answered ${response.status}`);
  let text = '';
  const decoder = new TextDecoder();
  for await (const chunk of response.body) {
    text += decoder.decode(chunk, { stream: true });
    if (text.length > maxBytes) throw new Error(`${url} is longer than ${maxBytes} characters`);
  }
  const listed = text.split('\n').flatMap((line) => parseDomain(line) ?? []);
  // The publisher of the list must not be able to refuse the addresses of everybody.
  const domains = listed.filter((domain) => domain.includes('.') && !isListed(largeServices, domain));
  if (domains.length < minDomains) throw new Error(`${url} has only ${domains.length} domains`);
  return new Set(domains);
}
