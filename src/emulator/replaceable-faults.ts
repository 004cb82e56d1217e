import { type Fault, type FaultPlan, planFaults } from './fault-plan.ts';

/** A plan of faults that can be replaced while the platform runs. */
export interface ReplaceableFaults {
  readonly plan: FaultPlan;
  current(): { readonly faults: readonly Fault[]; readonly seed: number };
  replace(faults: readonly Fault[], seed: number): void;
}

/** Starts with these faults. */
export function openFaults(faults: readonly Fault[], seed: number): ReplaceableFaults {
  let current = { faults, seed };
  let plan = planFaults(faults, seed);
  return {
    current: () => current,
    replace(others, otherSeed) {
      current = { faults: others, seed: otherSeed };
      plan = planFaults(others, otherSeed);
    },
    plan: {
      strike: (request) => plan.strike(request),
      lieAbout: (window) => plan.lieAbout(window),
      rowLie: (window) => plan.rowLie(window),
      leavesOutUnnamed: (window) => plan.leavesOutUnnamed(window),
      addsDoubles: () => plan.addsDoubles(),
      overcounts: (kind) => plan.overcounts(kind),
      forbidsListing: (kind) => plan.forbidsListing(kind),
      leavesUnlisted: (resource) => plan.leavesUnlisted(resource),
      isOutOfScope: (operation) => plan.isOutOfScope(operation),
      emptiesTexts: (subject) => plan.emptiesTexts(subject),
      get knowsOnlyEarliestVersion() {
        return plan.knowsOnlyEarliestVersion;
      },
      get ignoresVersion() {
        return plan.ignoresVersion;
      },
      get refusesWithObjects() {
        return plan.refusesWithObjects;
      },
      get lateShare() {
        return plan.lateShare;
      },
    },
  };
}
