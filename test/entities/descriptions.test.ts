import { expect, test } from 'vitest';
import { organization, registry, user } from '#entities/index.ts';
import { defineEntityModule } from '#entities/kit/model/define.ts';
import { reference } from '#entities/kit/model/fields.ts';
import { relationsOf } from '#entities/kit/read/relations.ts';
import { createRegistry } from '#entities/kit/model/registry.ts';
import { shareOf } from '#entities/kit/model/share.ts';

const vendorReview = defineEntityModule({
  kind: 'vendorReview',
  table: 'vendor_reviews',
  description: 'What was found out about a vendor.',
  fields: { leadReviewerId: reference('user', 'Who answers for it.', { reverse: 'ledReviews' }) },
  tenancy: 'organization',
  expose: { leadReviewerId: 'read' },
  filter: [],
  order: [],
  events: [],
});

test('what is derived of a kind is described in words for people', () => {
  const share = shareOf(vendorReview);
  expect(share.description).toBe('One vendor review, shared with a group or kept from it.');
  expect(share.fields['vendorReviewId']?.description).toBe('The vendor review.');
  const relations = relationsOf(createRegistry([user, organization, vendorReview]), user);
  expect(relations.get('ledReviews')?.description).toBe('The vendor reviews whose lead reviewer it is.');
});

test('no relation is described by a name of the program', () => {
  for (const module of registry.modules)
    for (const { description } of relationsOf(registry, module).values())
      expect(description).not.toMatch(/[a-z][A-Z]|_/);
});
