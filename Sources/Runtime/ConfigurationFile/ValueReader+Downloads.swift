import ImageModel
import Messages
import YAML

extension KeyTable where Target == DownloadSettings {
    /// Options of `serve` by their names, and how many transfers there are at a time.
    static let downloads = KeyTable(
        DownloadSetting.allCases.map { setting in
            let text = ValueReader<String>.scalar(setting.expected) {
                $0.utf8.count <= RequestLimits.parameterBytesMax && setting.value(of: $0) != nil
                    ? $0 : nil
            }
            return Row(setting.rawValue, text) { settings, text in
                _ = settings.set(setting, to: text)
            }
        } + [Row("transfers", .transfers, \.transfersMax)])
}

extension ValueReader where Value == Int {
    fileprivate static let transfers = scalar(
        "a whole number from \(DownloadSettings.transfersRange.lowerBound) to "
            + "\(DownloadSettings.transfersRange.upperBound)"
    ) { text in
        PlainNumber.integer(text).flatMap {
            DownloadSettings.transfersRange.contains($0) ? $0 : nil
        }
    }
}
