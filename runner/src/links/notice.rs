//! Names of entries that are no outbounds: subscriptions tell by them when they end and
//! what is left. It must not know what else a link says.

/// What such a name holds, without spaces and in small letters: English, Chinese, Persian,
/// Russian. Each is more than a place or a product would be called.
const PHRASES: [&str; 44] = [
    "expire",
    "expiry",
    "expiration",
    "validuntil",
    "remaining",
    "remains:",
    "trafficleft",
    "traffic:",
    "trafficused",
    "usedtraffic",
    "totaltraffic",
    "dataleft",
    "gbleft",
    "mbleft",
    "daysleft",
    "dayleft",
    "usage:",
    "renewsubscription",
    "updatesubscription",
    "officialwebsite",
    "剩余",
    "剩餘",
    "到期",
    "过期",
    "過期",
    "已用流量",
    "总流量",
    "总用量",
    "有效期",
    "流量重置",
    "距离下次重置",
    "距離下次重置",
    "官网",
    "官網",
    "更新订阅",
    "更新訂閱",
    "套餐",
    "باقیمانده",
    "انقضا",
    "روزمانده",
    "مصرفی",
    "осталось",
    "истекает",
    "действуетдо",
];

/// Whether an entry of this name is none.
pub(super) fn is_one(name: &str) -> bool {
    let name: String = name
        .chars()
        // The zero-width non-joiner is written or not in Persian.
        .filter(|c| !c.is_whitespace() && !matches!(c, '\u{200b}'..='\u{200f}' | '_'))
        .map(|c| match c {
            // The Arabic letters where Persian has its own.
            'ي' | 'ى' => 'ی',
            'ك' => 'ک',
            '：' => ':',
            c => c,
        })
        .flat_map(char::to_lowercase)
        .collect();
    PHRASES.iter().any(|phrase| name.contains(phrase))
}

#[cfg(test)]
mod tests {
    use super::is_one;

    #[test]
    fn what_tells_about_a_subscription_is_known_in_several_languages() {
        for name in [
            "Expires: 2026-12-31",
            "📅 Expiry 31/12",
            "Traffic Left: 12.3 GB",
            "⏳ 12 days left",
            "Remaining 5GB",
            "剩余流量：12.3 GB",
            "套餐到期：2026-12-31",
            "距离下次重置剩余：3 天",
            "官网: example.com",
            "حجم باقی‌مانده: ۵ گیگ",
            "حجم باقي مانده",
            "تاریخ انقضا ۱۴۰۵",
            "۱۲ روز مانده",
            "Осталось 5 ГБ",
        ] {
            assert!(is_one(name), "{name}");
        }
    }

    #[test]
    fn outbounds_keep_their_names() {
        for name in [
            "",
            "🇩🇪 Frankfurt 1",
            "Express Traffic",
            "大流量 香港 01",
            "تهران ۱",
            "Left Bank, Paris",
            "ru-msk-01 | 1 Gbit",
            "📊3.21GB⏳12D",
        ] {
            assert!(!is_one(name), "{name}");
        }
    }
}
