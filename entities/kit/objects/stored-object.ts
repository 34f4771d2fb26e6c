import type { Availability } from '../model/files/stored-file.ts';

/** Providers of object storage, in the order in which new objects choose theirs. */
export const providerNames = ['bucketstore', 'edgestore', 'cloudstore', 'disk', 'database'] as const;

/** Files that one request can bring. */
export const maxFormFiles = 20;

export type ProviderName = (typeof providerNames)[number];

/** Where the bytes of an object are. The key is ours: the installation, the organization, and 128 random bits. */
export interface Location {
  readonly provider: ProviderName;
  readonly bucket: string;
  /** Empty where the provider has none. */
  readonly region: string;
  readonly key: string;
}

/** Result of reading the bytes: no client states it. */
export interface Measured {
  readonly sizeBytes: number;
  readonly sha256: Buffer;
  readonly contentType: string;
}

/** An object whose bytes are durable. It never changes; another content is another object. */
export interface StoredObject extends Measured {
  readonly id: string;
  /** Null for an object of a record of no single organization, such as the avatar of a person. */
  readonly organizationId: string | null;
  readonly location: Location;
  /** Version that the provider gave to these bytes: an ETag or a generation. */
  readonly version: string;
  /** Name of the file, as it is offered for a download. */
  readonly name: string;
}

/** An object that a record owns, for whoever offers or copies its bytes. */
export interface OwnedObject extends StoredObject {
  readonly ownerKind: string;
  readonly ownerId: string;
  readonly ownerField: string;
  readonly availability: Availability;
  readonly copy: (Location & { readonly version: string }) | null;
}

/** The result of the SQL function `object_for_download`. */
export interface ObjectDocument extends Location {
  readonly id: string;
  readonly organization_id: string | null;
  readonly name: string;
  readonly content_type: string;
  readonly size_bytes: number;
  /** In hexadecimal digits. */
  readonly sha256: string;
  readonly version: string;
  readonly owner_kind: string;
  readonly owner_id: string;
  readonly owner_field: string;
  readonly availability: Availability;
  readonly copy: OwnedObject['copy'];
}

export function ownedObject(document: ObjectDocument): OwnedObject {
  const { id, provider, bucket, region, key, name, version, availability, copy } = document;
  return {
    id,
    organizationId: document.organization_id,
    location: { provider, bucket, region, key },
    name,
    contentType: document.content_type,
    sizeBytes: document.size_bytes,
    sha256: Buffer.from(document.sha256, 'hex'),
    version,
    availability,
    copy,
    ownerKind: document.owner_kind,
    ownerId: document.owner_id,
    ownerField: document.owner_field,
  };
}
