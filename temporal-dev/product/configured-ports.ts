import { parseListenAddress } from '#config/schema/format.ts';
import type { PersonalSettings } from './product-environment.ts';

/** Ports that the developer has configured; the others are chosen (product-ports.ts). */
export function configuredPorts(personal: PersonalSettings): { api?: number; metrics?: number } {
  const port = (path: string) => {
    const text = personal.text(path);
    return text === undefined ? undefined : parseListenAddress(text)?.port;
  };
  const [api, metrics] = [port('server.listen'), port('server.metricsport')];
  return { ...(api ? { api } : {}), ...(metrics ? { metrics } : {}) };
}
