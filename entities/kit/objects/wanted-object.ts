import type { FurtherColumns } from '../access/principal-state.ts';
import { ownedObject, type ObjectDocument, type OwnedObject } from './stored-object.ts';

export interface SingleUse {
  readonly nonce: Buffer;
  readonly expiresAt: Date;
}

export interface Asking {
  /** Whether the request shows a link instead of credentials. */
  readonly isLinked: boolean;
}

/**
 * An object that a request asks for. It is read in the statement that reads the state of the caller; whether the caller may have it,
 * only the record that owns it says.
 */
export class WantedObject {
  readonly objectId: string;
  /** Whether the request shows a link instead of credentials. */
  readonly isLinked: boolean;
  readonly columns: FurtherColumns;
  /** The row of `columns`, once it is read. */
  row: Readonly<Record<string, unknown>> | undefined;

  constructor(objectId: string, { isLinked }: Asking) {
    this.objectId = objectId;
    this.isLinked = isLinked;
    this.columns = {
      columns: (first) => `object_for_download($${first}) as object`,
      values: [objectId],
    };
  }

  /** The same statement for a caller whose state is not read. */
  get statement(): { readonly text: string; readonly values: readonly string[] } {
    return { text: 'select object_for_download($1)::text', values: [this.objectId] };
  }

  /** @param text result of `statement` */
  take(text: string | null): void {
    this.row = { object: text === null ? null : (JSON.parse(text) as unknown) };
  }

  /** Undefined for an object that no record owns. */
  get object(): OwnedObject | undefined {
    const { object = null } = (this.row ?? {}) as { readonly object?: ObjectDocument | null };
    return object ? ownedObject(object) : undefined;
  }
}
