import { integration } from '../integration.ts';
import type { UnitOfWork } from '../../kit/unit/unit-of-work.ts';
import { customEvent } from '../../kit/write/custom-events.ts';
import type { Integration, ProviderAccount } from './stored-credential.ts';

/** Time until the server looks again whether an integration works, in milliseconds: it doubles with each look, up to a day. */
const [firstProbeMs, maxProbeMs] = [15 * 60_000, 86_400_000];

/** When the server looks next, after some looks. */
export function nextProbeAt(now: Date, probes: number): Date {
  return new Date(now.getTime() + Math.min(firstProbeMs * 2 ** Math.min(probes, 16), maxProbeMs));
}

/**
 * Marks a connected integration as not working: its loops end, and the person responsible is notified once.
 * @param unit of the server
 * @returns whether it was connected
 */
export async function markErrored(
  unit: UnitOfWork,
  id: string,
  { code, message }: { readonly code: string; readonly message: string },
): Promise<boolean> {
  const held = await unit.data.findLocked(integration, id);
  if (held?.status !== 'connected') return false;
  const now = unit.clock.now();
  const errored = await unit.data.update(integration, id, {
    status: 'errored',
    errorCode: code,
    errorMessage: message,
    erroredAt: now,
    probes: 0,
    nextProbeAt: nextProbeAt(now, 0),
    nextSyncAt: null,
  });
  unit.emit(customEvent(integration, 'errored', errored, { code }));
  return true;
}

/** Marks an integration as connected, after its credential was stored or a look has found that it works again. @param unit of the server */
export async function markConnected(
  unit: Pick<UnitOfWork, 'data' | 'emit' | 'clock'>,
  held: Integration,
  {
    account,
    credentialRef,
    responsibleId,
    definitionVersion,
  }: {
    readonly account: ProviderAccount;
    readonly credentialRef: string;
    readonly responsibleId?: string | null;
    /** Of the definition by which a person has connected it. */
    readonly definitionVersion?: string;
  },
): Promise<Integration> {
  const connected = await unit.data.update(integration, held.id, {
    status: 'connected',
    credentialRef,
    accountId: account.id,
    accountName: account.name,
    expiresAt: null,
    ...(held.status === 'connected' ? {} : { connectedAt: unit.clock.now() }),
    errorCode: null,
    errorMessage: null,
    erroredAt: null,
    probes: 0,
    nextProbeAt: null,
    // Somebody has connected it.
    ...(responsibleId === undefined ? {} : { responsibleId, expiryAnnouncedAt: null }),
    ...(definitionVersion === undefined ? {} : { definitionVersion }),
  });
  if (held.status !== 'connected') unit.emit(customEvent(integration, 'connected', connected, { before: held.status }));
  return connected;
}
