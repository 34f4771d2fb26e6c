import type { Call } from '../http/route.ts';

/** A request that asks for something, over REST or GraphQL. */
export type Asking = Pick<Call<unknown>, 'unit' | 'services' | 'request'>;
