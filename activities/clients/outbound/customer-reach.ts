import type { Config } from '#config/objects/root.ts';
import type { Reach } from './reachable-addresses.ts';

/** Which servers the URLs of customers can name (`workflows.webhookallowprivateaddresses`). */
export function customerReach({ workflows }: Pick<Config, 'workflows'>): Reach {
  const isOpen = workflows.webhookallowprivateaddresses;
  return { loopback: isOpen, private: isOpen, linkLocal: isOpen, plain: isOpen };
}
