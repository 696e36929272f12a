//! When and where numbers were measured: they mean nothing without.

use std::time::{SystemTime, UNIX_EPOCH};

/// Today, as year-month-day, UTC.
pub fn today() -> String {
    let seconds = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_secs());
    let (year, month, day) = date(seconds / 86_400);
    format!("{year:04}-{month:02}-{day:02}")
}

/// Days since 1970 ⇒ year, month, day of the Gregorian calendar. Years are counted from March, so that a leap day is the last.
fn date(days: u64) -> (u64, u64, u64) {
    // 1 March of the year 0 is 719 468 days before.
    let days = days + 719_468;
    let (era, day) = (days / 146_097, days % 146_097);
    let year = (day - day / 1_460 + day / 36_524 - day / 146_096) / 365;
    let of_year = day - (365 * year + year / 4 - year / 100);
    let month = (5 * of_year + 2) / 153;
    let month_day = of_year - (153 * month + 2) / 5 + 1;
    let (month, next) = if month < 10 { (month + 3, 0) } else { (month - 9, 1) };
    (year + 400 * era + next, month, month_day)
}

/// Processor, how many threads it runs at once, and system.
pub fn machine() -> String {
    let info = std::fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    let name =
        info.lines().find(|line| line.starts_with("model name")).and_then(|line| line.split(':').nth(1));
    let threads = std::thread::available_parallelism().map_or(1, usize::from);
    let (system, kind) = (std::env::consts::OS, std::env::consts::ARCH);
    format!("{}, {threads} threads, {system} {kind}", name.unwrap_or("unknown processor").trim())
}

#[cfg(test)]
mod tests {
    use super::date;

    #[test]
    fn days_are_dates() {
        assert_eq!(date(0), (1970, 1, 1));
        assert_eq!(date(11_016), (2000, 2, 29));
        assert_eq!(date(20_774), (2026, 11, 17));
    }
}
