import { catalogueWith, monthly, yearly } from './offers.ts';

/** Prices of the account of the payment provider in which real money is paid. */
export const liveCatalogue = catalogueWith({
  base: [monthly('base_month', 0), yearly('base_year', 0)],
  compliance: [monthly('compliance_month', 45_000), yearly('compliance_year', 500_000)],
  trust_center: [monthly('trust_center_month', 30_000), yearly('trust_center_year', 300_000)],
  registry: [monthly('registry_month', 0), yearly('registry_year', 0)],
  entity_management: [monthly('entity_management_month', 20_000), yearly('entity_management_year', 200_000)],
  vulnerability_management: [
    monthly('vulnerability_management_month', 10_000),
    yearly('vulnerability_management_year', 100_000),
  ],
  domain_scanning: [monthly('domain_scanning_month', 10_000), yearly('domain_scanning_year', 100_000)],
  extra_evidence_storage: [monthly('extra_evidence_storage_month', 1_000)],
  policy_management: [monthly('policy_management_month', 1_000), yearly('policy_management_year', 10_000)],
  risk_management: [monthly('risk_management_month', 1_000), yearly('risk_management_year', 10_000)],
});
