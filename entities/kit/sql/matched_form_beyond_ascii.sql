-- Returns the matched form of a text with characters beyond ASCII, for matched_form only.
-- NFKD without the combining marks of Latin, Greek, Cyrillic, Hebrew and Arabic and without invisible characters; NFC
-- again where characters from U+0900 on occur (Hangul, and scripts whose marks distinguish letters); lower case by the
-- ICU collation record_order; own rules for letters that do not decompose. Those are the rules of unaccent, whose
-- dictionary is a file of the server that an index must not depend on.
-- The removed characters must be those of `ignored` in entities/kit/storage/matched-form.ts. Indexes store the results:
-- they must be rebuilt after a change here and after a new version of ICU (docs/operating.md).
create or replace function matched_form_beyond_ascii(given text)
returns text
language plpgsql
immutable parallel safe strict
as $$
declare form text := regexp_replace(normalize(given, NFKD), '[\u00ad\u0300-\u036f\u0483-\u0487\u0591-\u05bd\u05bf\u05c1\u05c2\u05c4\u05c5\u05c7\u0610-\u061a\u0640\u064b-\u065f\u0670\u1ab0-\u1aff\u1dc0-\u1dff\u200b-\u200f\u2060\u20d0-\u20ff\ufe00-\ufe0f\ufe20-\ufe2f\ufeff]', '', 'g');
begin
  -- Syllables of Hangul, and letters of other scripts with marks that distinguish them.
  if form ~ '[\u0900-\uffff]' then form := normalize(form, NFC); end if;
  form := lower(form collate public.record_order);
  if form ~ '[\u00df-\u0292\u03c2]' then
    form := translate(form, 'ðøđħıĸłŋŧƀɓɖɗɛƒɨƙɲɔƴʋς', 'dodhiqlntbbddefiknoyvσ');
    form := replace(replace(replace(replace(form, 'ß', 'ss'), 'æ', 'ae'), 'œ', 'oe'), 'þ', 'th');
  end if;
  return form;
end
$$;
