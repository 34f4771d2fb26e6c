import { AppError } from '../base/errors.ts';
import type { Caller } from './caller.ts';
import type { EntityModule } from './define.ts';
import type { Asked, Operation } from './policy.ts';
import { isWithinLimits, scopeFor } from './scopes.ts';

/** Whether the caller's organization may use one of the product modules that a kind is part of. */
export function isModuleEnabled({ productModules }: EntityModule, caller: Pick<Caller, 'productModules'>): boolean {
  return productModules === undefined || productModules.some((name) => caller.productModules.includes(name));
}

/**
 * Rejects a request that names a kind beyond the limits of the caller: a token has no scope for it, or whoever acts as somebody else may
 * not do this. Records of the kind that a request reaches
 * indirectly are left out of its answer.
 * @throws AppError permission_denied
 */
export function refuseBeyondLimits(
  module: EntityModule,
  operation: Operation,
  caller: Pick<Caller, 'kind' | 'limits' | 'delegation'>,
): void {
  const { kind } = module.historyOf ?? module;
  if (!isWithinLimits(caller, { kind, operation }))
    throw new AppError('permission_denied', beyondLimits({ kind, operation }, caller));
}

/** The message for an operation beyond the limits of a caller. */
export function beyondLimits(asked: Asked, { delegation }: Pick<Caller, 'delegation'>): string {
  return delegation === null
    ? `This token does not have the scope ${scopeFor(asked)}.`
    : 'A caller who acts as another user may not do this (docs/sign-in.md, Acting as another user).';
}

/**
 * Rejects a request that names a kind of a product module which the organization does not have. When a request reaches the kind
 * indirectly (through another record, by id, in a search of all kinds), it finds no records of the kind instead.
 * @throws AppError module_not_enabled
 */
export function refuseDisabledModule(
  module: EntityModule,
  caller: Pick<Caller, 'productModules' | 'billingPage'>,
): void {
  const kind = module.historyOf ?? module;
  if (isModuleEnabled(kind, caller)) return;
  throw new AppError(
    'module_not_enabled',
    `${kind.typeName} is part of the product module ${(kind.productModules ?? []).join(' or ')}, which this organization does not have.${seePage(caller)}`,
  );
}

/**
 * Rejects what costs the operator money, for an organization that must have a payment method and has none.
 * @throws AppError payment_method_required
 */
export function refuseWithoutPaymentMethod(caller: Pick<Caller, 'needsPaymentMethod' | 'billingPage'>): void {
  if (!caller.needsPaymentMethod) return;
  throw new AppError(
    'payment_method_required',
    `This organization has no payment method, which this needs.${seePage(caller)}`,
  );
}

/** Ends the message of a refusal with the page on which the plan and the payment method are changed. */
export function seePage({ billingPage }: Pick<Caller, 'billingPage'>): string {
  return billingPage === null ? '' : ` Its managers change that at ${billingPage}.`;
}
