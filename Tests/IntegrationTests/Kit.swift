// Nearly every file of this target uses it.
@_exported import StackKit
