import { AppError } from '#entities/kit/base/errors.ts';
import { hasSignedOn } from '#entities/kit/model/confinement.ts';
import { refuseTokens } from '../http/refuse-tokens.ts';
import { beyondSingleSignOn } from '../http/request-caller.ts';
import { rootFields } from './documents/root-fields.ts';
import type { FieldConfig } from './passthrough-field.ts';

/** A field that refuses API tokens and personal tokens. */
export function forSessions(config: FieldConfig): FieldConfig {
  const { resolve } = config;
  return {
    ...config,
    extensions: { ...config.extensions, isForSessions: true },
    resolve: (source, args, context, info) => {
      refuseTokens(context.unit.context.caller);
      return resolve?.(source, args, context, info);
    },
  };
}

/** Whether the extensions are those of a field `forSessions`. */
export function isForSessions(extensions: Readonly<Record<string, unknown>>): boolean {
  return extensions['isForSessions'] === true;
}

/** A field that refuses sessions of an organization's single sign-on. */
export function beyondOrganizations(config: FieldConfig): FieldConfig {
  const { resolve } = config;
  return {
    ...config,
    extensions: { ...config.extensions, isBeyondOrganizations: true },
    resolve: (source, args, context, info) => {
      if (hasSignedOn(context.unit.context.caller)) throw beyondSingleSignOn();
      return resolve?.(source, args, context, info);
    },
  };
}

/** Whether the extensions are those of a field `beyondOrganizations`. */
export function isBeyondOrganizations(extensions: Readonly<Record<string, unknown>>): boolean {
  return extensions['isBeyondOrganizations'] === true;
}

/** A field that refuses others beside it: they would hold a transaction open while it calls another system, or undo what belongs to the call. */
export function alone(config: FieldConfig): FieldConfig {
  const { resolve } = config;
  return {
    ...config,
    resolve: (source, args, context, info) => {
      const fields = rootFields(info.operation.selectionSet, info.fragments).map(({ name }) => name.value);
      if (fields.filter((name) => !name.startsWith('__')).length > 1)
        throw new AppError(
          'invalid_input',
          `${info.fieldName} calls another system, so it must be the only field of its operation; send the others in operations of their own.`,
        );
      return resolve?.(source, args, context, info);
    },
  };
}

/** Flushes the changes of a mutation before the next one begins, so that a conflict is reported for the right field. */
export function flushed(config: FieldConfig): FieldConfig {
  const { resolve } = config;
  return {
    ...config,
    resolve: async (source, args, context, info) => {
      const result: unknown = await resolve?.(source, args, context, info);
      await context.unit.flush();
      return result;
    },
  };
}
