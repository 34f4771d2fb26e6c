import type { BoundStatement } from './bound-text.ts';
import { databaseRoles, sessionSettings } from './orm-schema.ts';

interface Tenant {
  readonly organizationId: string | null;
  readonly userId: string | null;
}

const tenantAndTimeout = `select set_config('${sessionSettings.organizationId}', $1, true), set_config('${sessionSettings.userId}', $2, true),
  set_config('statement_timeout', $3, true)`;

function tenantValues({ organizationId, userId }: Tenant, timeoutMs: number): string[] {
  return [organizationId ?? '', userId ?? '', String(timeoutMs)];
}

/** Settings of a transaction that may change rows. */
export function settingsStatement(
  tenant: Tenant & { readonly role: keyof typeof databaseRoles },
  timeoutMs: number,
): BoundStatement {
  return {
    text: `${tenantAndTimeout}, set_config('role', $4, true)`,
    values: [...tenantValues(tenant, timeoutMs), databaseRoles[tenant.role]],
  };
}

/** Settings of a transaction that only reads. */
export function readSettingsStatement(
  tenant: Tenant & { readonly role: keyof typeof databaseRoles },
  timeoutMs: number,
): BoundStatement {
  const readOnly = `set_config('transaction_read_only', 'on', true)`;
  // New connections have the app role.
  if (tenant.role === 'app')
    return { text: `${tenantAndTimeout}, ${readOnly}`, values: tenantValues(tenant, timeoutMs) };
  const { text, values } = settingsStatement(tenant, timeoutMs);
  return { text: `${text}, ${readOnly}`, values };
}

/** Continues under another role. */
export function roleStatement(role: keyof typeof databaseRoles, organizationId: string | null): BoundStatement {
  return {
    text: `select set_config('role', $1, true), set_config('${sessionSettings.organizationId}', $2, true)`,
    values: [databaseRoles[role], organizationId ?? ''],
  };
}

export function timeoutStatement(timeoutMs: number): BoundStatement {
  return { text: `select set_config('statement_timeout', $1, true)`, values: [String(timeoutMs)] };
}
