/// `%f`: six decimals and a point, whatever the locale. Magnitudes of 9 × 10¹² and more and
/// values that are no number come out as `0.000000`; requests with them are refused before.
func decimalText(_ value: Double) -> String {
    guard value.isFinite, abs(value) < 9e12 else { return "0.000000" }
    // Apart, so that no digit of the fraction is lost in the product.
    let whole = abs(value).rounded(.towardZero)
    let millionths = Int(((abs(value) - whole) * 1_000_000).rounded(.toNearestOrEven))
    let units = Int(whole) + millionths / 1_000_000
    let fraction = String(millionths % 1_000_000)
    let padding = String(repeating: "0", count: 6 - fraction.utf8.count)
    let sign = value < 0 && (units > 0 || millionths > 0) ? "-" : ""
    return "\(sign)\(units).\(padding)\(fraction)"
}
