import CMessages
import ImageModel
import Messages

/// What the configuration sets of transfers, as workers are told.
struct DownloadSettingsMessage: WireMessage {
    var settings: DownloadSettings

    typealias Form = Imagebus__V1__DownloadSettings
    static var begin: (CPart<Form>?) -> Void { imagebus__v1__download_settings__init }
    static var blank: Self { Self(settings: DownloadSettings()) }

    mutating func fields(_ map: some FieldMap, _ wire: CPart<Form>) throws(WireError) {
        var texts = settings.named
        try map.details(
            &texts, ParameterLimits.self, &wire.pointee.n_settings, &wire.pointee.settings,
            "DownloadSettings.settings", limit: RequestLimits.parametersMax)
        guard let settings = DownloadSettings(texts: texts) else {
            throw .field("DownloadSettings.settings", .unknownValue)
        }
        self.settings = settings
    }
}

/// An operator suspends transfers, or lets them go on.
struct DownloadsOrder: WireMessage {
    var command: DownloadCommand

    typealias Form = Imagebus__V1__DownloadsCommand
    static var begin: (CPart<Form>?) -> Void { imagebus__v1__downloads_command__init }
    static var blank: Self { Self(command: .suspend) }

    mutating func fields(_ map: some FieldMap, _ wire: CPart<Form>) throws(WireError) {
        try map.word(&command, &wire.pointee.command, "DownloadsCommand.command")
    }
}
