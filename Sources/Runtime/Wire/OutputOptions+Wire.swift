import CMessages
import ImageModel

extension OutputOptions: WireMessage {
    typealias Form = Imagebus__V1__Output
    static var begin: (CPart<Form>?) -> Void { imagebus__v1__output__init }
    static var blank: Self { Self() }

    mutating func fields(_ map: some FieldMap, _ wire: CPart<Form>) throws(WireError) {
        try map.word(
            &format, &wire.pointee.format, if: &wire.pointee.maybe_format_case, 1, "Output.format")
        try map.number(
            &quality, &wire.pointee.quality, if: &wire.pointee.maybe_quality_case, 2,
            "Output.quality")
        map.flag(&lossless, &wire.pointee.lossless, "Output.lossless")
        try map.number(
            &compression, &wire.pointee.compression, if: &wire.pointee.maybe_compression_case, 4,
            "Output.compression")
        var settings = settingTexts
        try map.details(
            &settings, ParameterLimits.self, &wire.pointee.n_settings, &wire.pointee.settings,
            "Output.settings", limit: RequestLimits.parametersMax)
        guard take(settings: settings) else { throw .field("Output.settings", .unknownValue) }
    }
}
