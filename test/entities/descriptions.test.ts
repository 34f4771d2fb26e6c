import { expect, test } from 'vitest';
import { organization, registry, user } from '#entities/index.ts';
import { defineEntityModule } from '#entities/kit/model/define.ts';
import { reference } from '#entities/kit/model/fields.ts';
import { relationsOf } from '#entities/kit/read/relations.ts';
import { createRegistry } from '#entities/kit/model/registry.ts';
import { shareOf } from '#entities/kit/model/derived/share.ts';

const vendorReview = defineEntityModule({
  kind: 'vendorReview',
  table: 'vendor_reviews',
  description: 'Assessment of a vendor.',
  fields: { leadReviewerId: reference('user', 'Responsible user.', { reverse: 'ledReviews', exposed: 'read' }) },
  tenancy: 'organization',
  events: [],
});

test('what is derived of a kind is described in words for people', () => {
  const share = shareOf(vendorReview);
  expect(share.description).toBe('Access of a group to one vendor review: granted or blocked.');
  expect(share.fields['vendorReviewId']?.description).toBe(
    'Vendor review that is shared with the group, or blocked for it.',
  );
  const relations = relationsOf(createRegistry([user, organization, vendorReview]), user);
  expect(relations.get('ledReviews')?.description).toBe('Vendor reviews whose lead reviewer is this record.');
});

test('no relation is described by a name of the program', () => {
  for (const module of registry.modules)
    for (const { description } of relationsOf(registry, module).values())
      expect(description).not.toMatch(/[a-z][A-Z]|_/);
});
