export { type Rate, rateDecimals, readRates } from './rates-file.ts';
export {
  areOld,
  converted,
  convertedWords,
  type MonthRate,
  oldAfterDays,
  rateAtClose,
  rateWords,
  type SecondCurrency,
  secondCurrencyOf,
  withoutRateWords,
} from './second-currency.ts';
