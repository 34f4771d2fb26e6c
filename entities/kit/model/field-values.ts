import type { Field, Fields } from './declared-field.ts';

/** The stored value of a field as TypeScript sees it. */
type FieldValue<F> =
  F extends Field<infer Value, infer Optional> ? (Optional extends true ? Value | null : Value) : never;

type RequiredAtCreation<F extends Fields> = {
  [Name in keyof F]: F[Name] extends Field<unknown, false, false> ? Name : never;
}[keyof F];

/** Input of a creation: fields that are neither optional nor have a default are required. */
export type CreationInput<F extends Fields> = { readonly [Name in RequiredAtCreation<F>]: FieldValue<F[Name]> } & {
  readonly [Name in Exclude<keyof F, RequiredAtCreation<F>>]?: FieldValue<F[Name]>;
};

/** Input of a change; every field may be left out. */
export type ChangeInput<F extends Fields> = { readonly [Name in keyof F]?: FieldValue<F[Name]> };

export type FieldValues<F extends Fields> = { readonly [Name in keyof F]: FieldValue<F[Name]> };
