import type { Config } from '#config/objects/root.ts';
import type { Reach } from './reachable-addresses.ts';

/** Which servers the URLs of customers can name (`workflows.webhookallowprivateaddresses`). */
export function customerReach({ workflows }: Pick<Config, 'workflows'>): Reach {
  const isOpen = workflows.webhookallowprivateaddresses;
  return { loopback: isOpen, private: isOpen, linkLocal: isOpen, plain: isOpen };
}

/** Which servers integrations can ask. Those of development servers also ask their own machine and network, where other systems are fakes. */
export function integrationReach({ workflows, server }: Pick<Config, 'workflows' | 'server'>): Reach {
  const reach = customerReach({ workflows });
  return server.dev ? { ...reach, loopback: true, private: true } : reach;
}
