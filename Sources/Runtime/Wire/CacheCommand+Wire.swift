import CMessages
import ImageModel
import Messages

extension CacheCommand {
    init(_ wire: Imagebus__V1__CacheCommand, _ read: FieldReader) throws(WireError) {
        self.init(
            number: wire.number,
            action: try read.known(wire.action.rawValue, "CacheCommand.action"),
            cache: try read.name(wire.cache, "CacheCommand.cache"),
            key: try read.text(wire.key, "CacheCommand.key", limit: MessageLimits.keyBytesMax),
            tiers: wire.maybe_tiers_case.rawValue == 0
                ? .all : try CacheTypes(wire.tiers, "CacheCommand.tiers"))
    }

    func wire(_ write: FieldWriter) throws(WireError)
        -> UnsafeMutablePointer<Imagebus__V1__CacheCommand>
    {
        let wire = try write.make(imagebus__v1__cache_command__init)
        wire.pointee.number = number
        wire.pointee.action = .init(rawValue: .init(action.rawValue))
        wire.pointee.cache = try write.name(cache, "CacheCommand.cache")
        wire.pointee.key = try write.text(
            key, "CacheCommand.key", limit: MessageLimits.keyBytesMax)
        wire.pointee.maybe_tiers_case = IMAGEBUS__V1__CACHE_COMMAND__MAYBE_TIERS_TIERS
        wire.pointee.tiers = UInt32(tiers.rawValue)
        return wire
    }
}

extension CacheReport {
    init(_ wire: Imagebus__V1__CacheReport, _ read: FieldReader) throws(WireError) {
        switch wire.outcome_case {
        case IMAGEBUS__V1__CACHE_REPORT__OUTCOME_TIERS:
            self.init(
                number: wire.number,
                outcome: .tiers(try CacheTypes(wire.tiers, "CacheReport.tiers")))
        case IMAGEBUS__V1__CACHE_REPORT__OUTCOME_FAILURE:
            let error = try ImageError(
                try read.required(wire.failure, "CacheReport.failure"), read)
            self.init(number: wire.number, outcome: .failure(error))
        default: throw .field("CacheReport.outcome", .missing)
        }
    }

    func wire(_ write: FieldWriter) throws(WireError)
        -> UnsafeMutablePointer<Imagebus__V1__CacheReport>
    {
        let wire = try write.make(imagebus__v1__cache_report__init)
        wire.pointee.number = number
        switch outcome {
        case .tiers(let tiers):
            wire.pointee.outcome_case = IMAGEBUS__V1__CACHE_REPORT__OUTCOME_TIERS
            wire.pointee.tiers = UInt32(tiers.rawValue)
        case .failure(let error):
            wire.pointee.outcome_case = IMAGEBUS__V1__CACHE_REPORT__OUTCOME_FAILURE
            wire.pointee.failure = try error.wire(write)
        }
        return wire
    }
}
